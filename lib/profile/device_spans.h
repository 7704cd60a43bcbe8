#pragma once

#include "base/time.h"
#include "profile/device_events.h"
#include "profile/gpu_event.h"
#include "profile/span_set.h"
#include "trace/event_reader.h"

namespace doctor {

/// The times at which any device of a host does each of the things that a step's time is divided into. Each list is
/// disjoint and sorted.
struct DeviceSpans {
  std::vector<Interval> compute_16;       ///< kernels in 16-bit floating point
  std::vector<Interval> compute_32;       ///< other kernels, except collective operations
  std::vector<Interval> copy_to_device;   ///< copies from the host, and waits of the device for its infeed
  std::vector<Interval> copy_to_host;     ///< copies to the host, and the outfeed
  std::vector<Interval> copy_wait;        ///< an op waits for a copy beside it
  std::vector<Interval> between_devices;  ///< copies on and between devices, and collective operations
};

/// Gathers them in memory that does not grow with the trace.
class DeviceSpansBuilder {
 public:
  void take(const DeviceEvent& understood);
  DeviceSpans finish();

 private:
  SpanSet* set_of(const GpuEvent& event);

  SpanSet compute_16_;
  SpanSet compute_32_;
  SpanSet copy_to_device_;
  SpanSet copy_to_host_;
  SpanSet copy_wait_;
  SpanSet between_devices_;
};

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

/// The thread of the host that copies data to a device.
struct DeviceFeed {
  std::string device;  ///< "/device:GPU:0"
  /// the thread that started most of the copies, by time; other threads may have the same name
  std::string thread;
  std::size_t line = 0;         ///< tells threads of one name apart (EventLine::index)
  Picoseconds copies = 0;       ///< total time of the copies to the device whose thread is known
  Picoseconds by_thread = 0;    ///< the part that this thread started
  std::vector<Interval> spans;  ///< times in which something was copied to it, sorted and disjoint
};

/// Matches copies on devices with the driver calls on the host that started them, by `correlation_id`.
class DeviceFeedsBuilder {
 public:
  /// The number of a host's copies that are kept, the first ones. It bounds memory; any part of a run shows who feeds
  /// its devices.
  static constexpr std::size_t kMostCopies = std::size_t{1} << 18;

  /// Takes an event of the host.
  void take(const TraceEvent& event);
  void take(const DeviceEvent& understood);

  /// The feeds by the name of the device; devices without such copies are left out. Empty afterwards.
  std::vector<DeviceFeed> finish();

 private:
  struct Call {
    std::int64_t correlation = 0;
    std::size_t line = 0;
  };
  struct Copy {
    std::int64_t correlation = 0;
    Interval span;
  };

  std::vector<Call> calls_;
  std::map<std::size_t, std::string> threads_;       ///< names of threads that copy, by EventLine::index
  std::map<std::string, std::vector<Copy>> copies_;  ///< by device
  std::size_t copy_count_ = 0;
};

}  // namespace doctor
