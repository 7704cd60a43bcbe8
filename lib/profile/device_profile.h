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

/// What the devices of a host did.
struct DeviceProfile {
  std::vector<DeviceActivity> devices;  ///< those with events, by name
  std::vector<KernelRow> kernels;       ///< of all of them, most total time first
  /// Whether their times are those of the host's trace. Of TF1 timelines they are not: the pauses between session runs
  /// that were not traced are shortened there, so nothing can be said of idle time either.
  bool is_aligned = true;
};

/// When any of the devices computes, on the clock of the host: disjoint and sorted, empty if that is not known.
std::vector<Interval> computing_of(const DeviceProfile& profile);

/// Adds up the device events of a trace that was read already, in a second reading of its files. Lines that repeat
/// others, and the host's, are left out.
class DeviceProfiler final : public EventSink {
 public:
  /// `origin_ns`: of the first reading (Trace::origin_ns); times are made to count from it. Nothing if those of the
  /// first reading cannot be compared.
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
  std::map<const EventLine*, DeviceRecorder*> recorders_;  ///< of the present file; null for lines left out
  KernelStatistics kernels_;
};

}  // namespace doctor
