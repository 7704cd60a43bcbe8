#pragma once

#include <cstddef>
#include <cstdint>

#include "measure/measurements.h"

namespace doctor {

/// The category of an iterator's work, in the terms of TensorFlow's guide "Optimize TensorFlow performance using the
/// Profiler" (tensorflow.org/guide/profiler, "Input pipeline analyzer").
enum class InputWork : std::uint8_t {
  read_on_demand,   ///< reads files while its consumer waits
  read_in_advance,  ///< reads files on a background thread, ahead of its consumer, or keeps what was read
  preprocessing,    ///< transforms elements
  enqueue,          ///< hands elements to a device
  other,            ///< makes data without files, buffers elements, or only frames other iterators
};
inline constexpr std::size_t kInputWorkCount = 5;  ///< values of InputWork

/// The category of one iterator, from its kind and the iterators above it, whatever version the runtime appends to
/// their names: `FixedLengthRecordV2` reads files, and below `ParallelInterleaveV4` it reads in advance.
InputWork work_of(const HostMeasurement& host, const IteratorMeasurement& iterator);

}  // namespace doctor
