#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "measure/measurements.h"

namespace doctor {

/// What the time of a step goes to, as in the "Step-time breakdown" of TensorFlow's Profiler guide. Where several
/// things happen at once, the time is that of the first of them in this order, which is XProf's: what a busy device
/// hides costs nothing. Source: EventType of xprof/utils/event_span.h.
enum class StepPart : std::uint8_t {
  device_compute_16,  ///< kernels in 16-bit precision
  device_compute_32,
  output,            ///< copies from the device
  device_to_device,  ///< copies between devices and collective operations
  input,             ///< the consumer waits in GetNext, or data are copied to the device
  kernel_launch,     ///< the host calls the device's driver
  compilation,
  host_compute,  ///< ops of the job on the host
  other,         ///< nothing of these: Python, the runtime, waiting
};
inline constexpr std::size_t kStepPartCount = 9;

/// How the steps of a trace were determined.
enum class StepSource : std::uint8_t {
  none,
  markers,       ///< events that carry a step's number
  session_runs,  ///< of a TF1 timeline
  cadence,       ///< from one GetNext call to the next: the trace has no markers
  /// Likewise, though there are markers: they leave the GetNext calls out, and with them the wait.
  cadence_beside_markers,
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

/// The average over steps that count, and how they differ. All 0 without steps.
struct StepSummary {
  std::size_t count = 0;
  double average = 0;    ///< picoseconds, likewise the others
  double deviation = 0;  ///< standard deviation of the population, as XProf's
  Picoseconds shortest = 0;
  Picoseconds longest = 0;
  std::array<double, kStepPartCount> parts{};  ///< indexed by StepPart: averages
  /// Of the time of all these steps together, as the parts are; nullopt without steps.
  std::optional<double> input_share;
};

/// Whether the consumer calls GetNext before its steps are marked, as `for batch in dataset: with Trace(...)` does:
/// most markers hold no call, and in most pauses between two markers a call begins. Such markers say nothing about
/// waiting. Both are sorted by start; fewer than three markers say nothing.
bool get_next_is_outside_markers(std::span<const StepMarker> markers, std::span<const Interval> calls);

/// The steps of a host that was measured with its profile.
StepTable measure_steps(const HostMeasurement& host);

/// Of all hosts together: each step counts once.
StepSummary summarize_steps(std::span<const StepTable> hosts);

}  // namespace doctor
