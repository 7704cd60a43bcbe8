#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/time.h"

namespace doctor {

/// A part of a step's time, as in the "Step-time breakdown" of TensorFlow's Profiler guide. If several things happen at
/// once, the time belongs to the first of them in this order, which is XProf's: what a busy device hides costs nothing.
/// Source: EventType of xprof/utils/event_span.h.
enum class StepPart : std::uint8_t {
  device_compute_16,  ///< kernels in 16-bit precision
  device_compute_32,
  output,            ///< copies from the device, its outfeed
  device_to_device,  ///< copies between devices and collective operations
  copy_wait,         ///< a device waits for a copy beside its ops (TPU: `copy-done`)
  input,             ///< the consumer waits in GetNext, data is copied to the device, or it waits for its infeed
  kernel_launch,     ///< the host starts kernels and copies on a device, or prepares to (HostActivity::launch)
  compilation,
  host_compute,  ///< ops of the job on the host
  other,         ///< none of these: Python, the runtime, waiting
};
inline constexpr std::size_t kStepPartCount = 10;  ///< values of StepPart

/// How the steps of a trace were determined.
enum class StepSource : std::uint8_t {
  none,
  markers,       ///< events that carry a step's number
  session_runs,  ///< of a TF1 timeline
  cadence,       ///< from one GetNext call to the next: the trace has no markers
  /// Likewise, although there are markers: they leave the GetNext calls out, and with them the waits.
  cadence_beside_markers,
  programs,  ///< runs of the XLA program that takes most of a device's time: the trace has nothing else
};

struct StepMeasurement {
  Interval span;
  std::optional<std::int64_t> number;               ///< as in the marker; a cadence counts from 1
  std::array<Picoseconds, kStepPartCount> parts{};  ///< indexed by StepPart; they sum to the length of the span
  /// True if averages leave it out: the first and the last of more than five steps, which the profiler's start and end
  /// disturb (as in XProf).
  bool is_boundary = false;

  Picoseconds duration() const { return span.end - span.start; }
  Picoseconds operator[](StepPart part) const { return parts[static_cast<std::size_t>(part)]; }
};

/// The steps of one host.
struct StepTable {
  StepSource source = StepSource::none;
  std::vector<StepMeasurement> steps;  ///< in order of time
};

}  // namespace doctor
