#pragma once

#include <optional>

#include "diagnose/element_buffers.h"
#include "measure/memory_growth.h"

namespace doctor {

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

}  // namespace doctor
