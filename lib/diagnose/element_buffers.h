#pragma once

#include "diagnose/pipelines.h"
#include "measure/measurements.h"
#include "measure/memory_growth.h"

namespace doctor {

// The elements that the iterators of a pipeline keep in memory.

/// What an iterator keeps. Nothing where the trace does not say it; TF 2.13 and later say most, before only the limits.
struct ElementBuffer {
  IteratorId iterator = kNoIterator;
  std::optional<std::uint64_t> elements;       ///< the most that were seen in it; without histories, in the last event
  std::optional<std::uint64_t> limit;          ///< elements that it may hold; none for a cache
  std::optional<std::uint64_t> megabytes;      ///< that the runtime says the elements take, rounded down
  std::optional<std::uint64_t> element_bytes;  ///< of one: by its shapes (with element_types), else by the megabytes
  std::optional<std::uint64_t> bytes;          ///< of all that are in it, within 10 %
  std::optional<std::uint64_t> full_bytes;     ///< of as many as it may hold, and as there are
};

/// Megabytes that the runtime rounds down are off by at most 10 % from here on.
inline constexpr std::uint64_t kLeastExactMegabytes = 10;

/// Bytes of an element that the iterator makes, by its shapes. Nothing where the trace does not say them all, as before
/// TF 2.13, and without TraceNeeds::element_types.
std::optional<std::uint64_t> bytes_by_shapes(const HostMeasurement& host, IteratorId id);

/// The buffers of the members that keep elements, in their order: shuffles, prefetches, caches in memory, and parallel
/// transformations with their results.
std::vector<ElementBuffer> element_buffers(const HostMeasurement& host, const std::vector<IteratorId>& members);

/// The nearest iterator below a buffer that may make elements larger than they came; kNoIterator: none.
IteratorId enlarging_before(const RankedPipeline& ranked, IteratorId buffer);

/// The buffer with the most megabytes, else the most elements, among those that the user asked for after something that
/// may enlarge elements; kNoIterator: none. AUTOTUNE keeps its own buffers within the budget.
IteratorId largest_enlarged_buffer(const RankedPipeline& ranked);

/// A buffer of tf.data that can have taken the memory by which a process grows.
struct GrowingBuffer {
  ElementBuffer buffer;
  bool is_filling_cache = false;  ///< it has no limit but the end of an epoch
};

/// The buffer of the host that holds most, if it is at least half of the growth. A shuffle is none:
/// it is filled in the first step, which does not count. A cache that does not say its bytes is one while it is filled.
std::optional<GrowingBuffer> growing_buffer(const HostMeasurement& host, const MemoryGrowth& growth);

/// Bytes in all buffers of the host, as far as the trace says them.
std::uint64_t buffered_bytes(const HostMeasurement& host);

/// What these will take more when those that have a limit are full.
std::uint64_t bytes_to_come(const HostMeasurement& host);

/// How many times its buffer was filled in the window; 0 where the trace does not say how large it is.
inline double times_filled(const ShuffleFill& fill) {
  const double size = static_cast<double>(fill.buffer_size.value_or(0));
  return size > 0 ? static_cast<double>(fill.elements) / size : 0;
}

/// From here on it is not the begin of the training alone.
inline constexpr double kRefilled = 2;

}  // namespace doctor
