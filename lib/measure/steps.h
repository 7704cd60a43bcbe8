#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace doctor {

/// What the time of a step goes to, as in the "Step-time breakdown" of TensorFlow's Profiler guide. Where several
/// things happen at once, the time is that of the first of them in this order, which is XProf's: what a busy device
/// hides costs nothing. Source: EventType of xprof/utils/event_span.h.
enum class StepPart : std::uint8_t {
  device_compute_16,  ///< kernels in 16-bit precision
  device_compute_32,
  output,            ///< copies from the device, its outfeed
  device_to_device,  ///< copies between devices and collective operations
  copy_wait,         ///< a device waits for a copy that goes on beside its ops (TPU: `copy-done`)
  input,             ///< the consumer waits in GetNext, data are copied to the device, or it waits for its infeed
  kernel_launch,     ///< the host starts kernels and copies on a device, or prepares to (HostActivity::launch)
  compilation,
  host_compute,  ///< ops of the job on the host
  other,         ///< nothing of these: Python, the runtime, waiting
};
inline constexpr std::size_t kStepPartCount = 10;

/// How the steps of a trace were determined.
enum class StepSource : std::uint8_t {
  none,
  markers,       ///< events that carry a step's number
  session_runs,  ///< of a TF1 timeline
  cadence,       ///< from one GetNext call to the next: the trace has no markers
  /// Likewise, though there are markers: they leave the GetNext calls out, and with them the wait.
  cadence_beside_markers,
  programs,  ///< runs of the program of XLA that takes most of a device's time: there is nothing else
};

struct StepMeasurement {
  Interval span;
  std::optional<std::int64_t> number;               ///< as the marker has it; of a cadence counted from 1
  std::array<Picoseconds, kStepPartCount> parts{};  ///< indexed by StepPart; they sum to the length of the span
  /// Whether averages leave it out: the first and the last of more than five, which the profiler's start and end
  /// disturb (as XProf does).
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
