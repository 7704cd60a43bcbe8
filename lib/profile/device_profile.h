#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profile/device_activity.h"
#include "profile/kernel_statistics.h"
#include "trace/event_reader.h"

namespace doctor {

/// The activity of a host's devices.
struct DeviceProfile {
  std::vector<DeviceActivity> devices;  ///< devices with events, by name
  std::vector<KernelRow> kernels;       ///< of all devices, most total time first
  /// True if their times are those of the host's trace. In TF1 timelines they are not: the host's trace shortens the
  /// pauses between traced session runs. Then idle time is not known either.
  bool is_aligned = true;
};

/// The time in which any of the devices computes, on the clock of the host: disjoint and sorted; empty if it is not
/// known.
std::vector<Interval> computing_of(const DeviceProfile& profile);

/// Adds up the device events of a trace in a second reading of its files. Lines that repeat others, and those of the
/// host, are left out.
class DeviceProfiler final : public EventSink {
 public:
  /// `origin_ns` is that of the first reading (Trace::origin_ns); times will count from it. nullopt if the times of the
  /// two readings cannot be compared.
  explicit DeviceProfiler(std::optional<std::int64_t> origin_ns)
      : is_aligned_(origin_ns.has_value()), origin_ns_(origin_ns) {}

  void begin(const EventHeader& header) override;
  void take(const TraceEvent& event) override;

  DeviceProfile finish();

 private:
  DeviceRecorder* recorder_of(const EventLine& line);

  bool is_aligned_;
  std::optional<std::int64_t> origin_ns_;
  Picoseconds shift_ = 0;  ///< from the times of this reading to those of the first
  std::map<std::string, DeviceRecorder> devices_;
  std::map<const EventLine*, DeviceRecorder*> recorders_;  ///< of the current file; null for lines left out
  KernelStatistics kernels_;
};

}  // namespace doctor
