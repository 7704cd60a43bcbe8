#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "profile/gpu_event.h"
#include "profile/span_set.h"

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

}  // namespace doctor
