#pragma once

#include <tuple>

#include "base/time.h"
#include "profile/device_events.h"
#include "profile/gpu_event.h"
#include "profile/span_set.h"
#include "trace/event_reader.h"

namespace doctor {

/// The copies in one direction.
struct CopyStatistics {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  ///< of copies that have a size
  Picoseconds time = 0;     ///< each moment once
};

/// The activity of one device. Times are those of the host's trace. "Each moment once" means that work of several
/// streams at the same time is not added up; sums over kernels are marked as such.
struct DeviceActivity {
  std::string name;         ///< "/device:GPU:0"
  Interval window;          ///< from the start of its first event to the end of its last
  Picoseconds busy = 0;     ///< time in which a kernel ran or something was copied or set, each moment once
  Picoseconds kernels = 0;  ///< time in which a kernel ran, each moment once

  std::uint64_t kernel_count = 0;
  Picoseconds median_kernel = 0;  ///< exact to 3 %
  // Sums over kernels, from here to `on_tensor_cores`.
  Picoseconds kernel_sum = 0;
  Picoseconds collectives = 0;           ///< NCCL
  Picoseconds half_precision = 0;        ///< of the kernels that are not collectives: 16-bit floating point
  Picoseconds full_precision = 0;        ///< the others of these
  Picoseconds of_named_ops = 0;          ///< kernels whose op the trace names
  Picoseconds tensor_core_eligible = 0;  ///< kernels whose op could run on TensorCores
  Picoseconds on_tensor_cores = 0;       ///< the part of these that uses them

  CopyStatistics to_device;
  CopyStatistics to_host;
  CopyStatistics on_device;
  CopyStatistics between_devices;
  // For devices without streams, from their ops; each moment once.
  Picoseconds infeed = 0;     ///< waits for the host's data, or takes it
  Picoseconds outfeed = 0;    ///< hands data to the host
  Picoseconds copy_wait = 0;  ///< waits for copies that go on beside it

  Picoseconds uncovered_copies_to_device = 0;  ///< time in which the host's data was copied and no kernel ran

  /// The time in which it computed: in kernels other than collectives, which wait for other devices. A wait for a copy
  /// that its own program began counts as its program's time. Disjoint and sorted.
  std::vector<Interval> computing;
  std::uint64_t unread_count = 0;  ///< events whose meaning for the device is not known

  /// True if the trace shows activity of the device, but not whether it computed.
  bool is_unread() const { return unread_count > 0 && computing.empty(); }

  bool is_gpu() const { return name.starts_with("/device:GPU"); }
  Picoseconds length() const { return window.end - window.start; }
  Picoseconds idle() const { return length() - busy; }
};

/// Adds up the events of one device, in any order. Memory does not grow with their number.
class DeviceRecorder {
 public:
  void add(Interval span, const GpuEvent& event);

  /// Adds a run of an XLA program.
  void add_module(Interval span);

  /// Adds an event of unknown meaning: neither a kernel, a copy nor housekeeping.
  void add_unread(Interval span);

  DeviceActivity finish(std::string name);

 private:
  /// A histogram of kernel durations, with 32 classes for each doubling.
  class LengthHistogram {
   public:
    void add(Picoseconds length);
    Picoseconds median() const;

   private:
    static constexpr std::size_t kClassesPerDoubling = 32;
    using Classes = std::array<std::uint64_t, kClassesPerDoubling>;
    /// Indexed by doubling; null until a kernel is as long. Allocated on demand, because a trace may have a hundred
    /// thousand devices with one kernel each.
    std::vector<std::unique_ptr<Classes>> counts_;
    std::uint64_t total_ = 0;
  };

  void extend_window(Interval span);
  void add_kernel(Interval span, const GpuEvent& event);
  CopyStatistics* statistics_of(GpuActivity activity);

  DeviceActivity result_;
  bool has_events_ = false;
  LengthHistogram kernel_lengths_;
  std::array<SpanSet, 4> copies_;  ///< to device, to host, on device, between devices
  SpanSet kernels_;
  SpanSet computing_;
  SpanSet others_;
  SpanSet modules_;
  SpanSet infeed_;
  SpanSet outfeed_;
  SpanSet copy_wait_;
};

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
