#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/pipelines.h"

namespace doctor {

// The elements that the iterators of a pipeline keep in memory.

/// What an iterator keeps. Nothing where the trace does not say it; TF 2.13 and later say most, before only the limits.
struct ElementBuffer {
  IteratorId iterator = kNoIterator;
  std::optional<std::uint64_t> elements;       ///< the most that were seen in it; without histories, in the last event
  std::optional<std::uint64_t> limit;          ///< elements that it may hold; none for a cache
  std::optional<std::uint64_t> megabytes;      ///< that the runtime says the elements take, rounded down
  std::optional<std::uint64_t> element_bytes;  ///< of one: by its shapes (only with a Profile), else by the megabytes
  std::optional<std::uint64_t> bytes;          ///< of all that are in it, within 10 %
  std::optional<std::uint64_t> full_bytes;     ///< of as many as it may hold, and as there are
};

/// Megabytes that the runtime rounds down are off by at most 10 % from here on.
inline constexpr std::uint64_t kLeastExactMegabytes = 10;

/// Bytes of an element that the iterator makes, by its shapes. Nothing where the trace does not say them all, as before
/// TF 2.13, and without a Profile.
std::optional<std::uint64_t> bytes_by_shapes(const HostMeasurement& host, IteratorId id);

/// The buffers of the members that keep elements, in their order: shuffles, prefetches, caches in memory, and parallel
/// transformations with their results.
std::vector<ElementBuffer> element_buffers(const HostMeasurement& host, const std::vector<IteratorId>& members);

/// The nearest iterator below a buffer that may make elements larger than they came; kNoIterator: none.
IteratorId enlarging_before(const RankedPipeline& ranked, IteratorId buffer);

/// The buffer with the most megabytes, else the most elements, among those that the user asked for after something that
/// may enlarge elements; kNoIterator: none. AUTOTUNE keeps its own buffers within the budget.
IteratorId largest_enlarged_buffer(const RankedPipeline& ranked);

}  // namespace doctor
