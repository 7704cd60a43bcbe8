#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "trace/event_reader.h"

namespace doctor {

/// A step as a device shows it: from the start of the first kernel or copy that it launched to the end of the last.
struct DeviceStep {
  std::string device;  ///< "/device:GPU:0"
  Interval span;
  /// `group_id`: the profiler's own count, which the marker of the host shares. It is not the number of the step.
  std::optional<std::int64_t> group;
  std::optional<std::int64_t> number;  ///< in its name: 500 of "train 500", 0 of "0"
  /// True if the number is the host's. Names without a word ("0"), and those of events that the profiler took for the
  /// root of a step ("EagerKernelExecute 0"), have a number of the profiler's own.
  bool is_host_number = false;
};

/// Gathers the steps on the lines "Steps" of devices, which the profiler derives from what each step launched, and the
/// runs of XLA's programs on devices without streams, one of which is the step.
class DeviceStepsBuilder final : public EventSink {
 public:
  void take(const TraceEvent& event) override;

  /// All steps of all devices, sorted by start, then by device.
  std::vector<DeviceStep> finish();

  /// The runs of the program that takes most of the first device's time, sorted by start; empty afterwards.
  std::vector<Interval> take_program_runs();

 private:
  /// The number of runs that are kept, the first ones: more than enough to show steps.
  static constexpr std::size_t kMostRuns = std::size_t{1} << 18;

  std::vector<DeviceStep> steps_;
  /// runs of each program, by device and by name
  std::map<std::string, std::map<std::string, std::vector<Interval>>> programs_;
  std::size_t run_count_ = 0;
};

}  // namespace doctor
