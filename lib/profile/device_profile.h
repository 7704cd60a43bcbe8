#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "profile/device_activity.h"
#include "profile/device_events.h"
#include "profile/gpu_event.h"
#include "trace/event_reader.h"

namespace doctor {

/// All runs of one kernel that was launched in one way for one op.
struct KernelRow {
  std::string kernel_name;
  std::string op_name;  ///< empty if the trace does not say
  LaunchParameters launch;
  bool is_op_tensor_core_eligible = false;
  bool uses_tensor_cores = false;
  std::uint64_t occurrences = 0;
  Picoseconds total = 0;
  Picoseconds min = 0;
  Picoseconds max = 0;

  double average() const { return static_cast<double>(total) / static_cast<double>(occurrences); }
};

/// Adds up the kernels of all devices of a host, or of a run.
class KernelStatistics {
 public:
  /// Adds a run. Runs shorter than a nanosecond do not count, as in XProf: they were not recorded.
  void add(const GpuEvent& kernel, Picoseconds duration);

  /// Adds a row of another host.
  void add(const KernelRow& row);

  /// The rows, most total time first, then by names and launch parameters. Empty afterwards.
  std::vector<KernelRow> take();

 private:
  /// The key that distinguishes rows.
  using Key = std::tuple<std::string, std::string, Dimensions, Dimensions, std::uint32_t, std::uint32_t, std::uint32_t,
                         bool, bool>;

  KernelRow& sum_of(const KernelRow& row);

  std::map<Key, KernelRow> rows_;
  std::vector<KernelRow*> numbered_;  ///< by GpuEvent::number; null where none came yet
};

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
  /// The same for an event that others look at, too.
  void take(const DeviceEvent& event);

  DeviceProfile finish();

 private:
  bool is_aligned_;
  std::optional<std::int64_t> origin_ns_;
  Picoseconds shift_ = 0;  ///< from the times of this reading to those of the first
  DeviceEvents events_;
  std::map<std::string, DeviceRecorder> devices_;
  const EventLine* last_ = nullptr;
  DeviceRecorder* recorder_of_last_ = nullptr;
  KernelStatistics kernels_;
};

}  // namespace doctor
