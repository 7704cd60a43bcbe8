#pragma once

#include <tuple>

#include "base/id_set.h"
#include "base/time.h"
#include "profile/device_spans.h"
#include "profile/line_walks.h"
#include "profile/op_statistics.h"
#include "profile/span_set.h"
#include "trace/event_kind.h"
#include "trace/event_reader.h"

namespace doctor {

/// A part of the window in which the memory in use changed.
struct MemorySpan {
  Picoseconds start = 0;         ///< time of the first change in it
  Picoseconds end = 0;           ///< time of the last change
  std::uint64_t most_bytes = 0;  ///< the maximum in use after any of the changes
  std::uint64_t last_bytes = 0;  ///< in use after the last change, and until the next span

  friend bool operator==(const MemorySpan&, const MemorySpan&) = default;
};

/// The memory in use over time. Changes come in any order, which does not matter. Above kMostSpans spans, pairs of
/// neighbours are joined, so a peak is never lost.
class MemoryTimeline {
 public:
  static constexpr std::size_t kMostSpans = 1024;

  void add(Picoseconds time, std::uint64_t bytes);

  /// The spans in order of time.
  std::vector<MemorySpan> spans() const;

 private:
  void halve();

  Picoseconds width_ = kPicosecondsPerNanosecond;
  std::map<std::int64_t, MemorySpan> spans_;  ///< by time divided by the width, rounded down
};

/// Allocations of one kind that are held at the same time. Properties that the trace does not have are empty.
struct AllocationGroup {
  std::string op_name;                 ///< that allocated: "model/dense/MatMul"
  std::string region_type;             ///< "output", "temp", "persist", "dynamic"
  std::string data_type;               ///< "float"
  std::string shape;                   ///< "[128,32]"
  std::uint64_t requested_bytes = 0;   ///< of each allocation
  std::uint64_t allocation_bytes = 0;  ///< of each allocation, with the allocator's rounding
  std::uint64_t count = 0;

  std::uint64_t total_bytes() const { return count * allocation_bytes; }
};

/// The moment with the most memory in use. If it is reached several times, the latest one counts, because the window
/// shows most of what is held then.
struct MemoryPeak {
  std::uint64_t bytes = 0;
  std::uint64_t reserved_bytes = 0;  ///< of these: not for tensors ("stack")
  std::uint64_t free_bytes = 0;
  double fragmentation = 0;    ///< the share of the free memory that is not in its largest piece, 0..1
  Picoseconds time = 0;        ///< on the clock of the Trace, like all times below
  Picoseconds first_time = 0;  ///< when that much was first in use
  std::uint64_t count = 0;     ///< number of changes that left that much in use

  std::uint64_t capacity() const { return bytes + free_bytes; }
};

/// The allocations and deallocations of one allocator of a host in the window.
struct AllocatorProfile {
  std::string name;  ///< "GPU_0_bfc", "gpu_host_bfc"
  std::uint64_t allocation_count = 0;
  std::uint64_t deallocation_count = 0;
  MemoryPeak peak;
  std::uint64_t lifetime_peak_bytes = 0;  ///< since the job began
  double mean_fragmentation = 0;          ///< over the changes
  double max_fragmentation = 0;
  std::vector<MemorySpan> timeline;

  std::vector<AllocationGroup> at_peak;  ///< held at the peak, most bytes first
  /// Bytes in use at the peak whose allocation was not seen: mostly from before the window, such as weights.
  std::uint64_t unseen_bytes = 0;
  /// The size below which allocations are part of `unseen_bytes`, because the trace has too many; 0: none are.
  std::uint64_t least_followed_bytes = 0;
};

/// The memory of a host's allocators, from TensorFlow's events MemoryAllocation and MemoryDeallocation. Their meaning
/// is that of ConvertXPlaneToMemoryProfile() of xprof/convert/xplane_to_memory_profile.cc.
struct MemoryProfile {
  std::vector<AllocatorProfile> allocators;  ///< largest peak first, then by name
  std::uint64_t incomplete_events = 0;       ///< events without an allocator, an address or the bytes in use: left out
};

/// Gathers the activity of one allocator. Events come in any order, because threads are read one after another. So the
/// content at the peak is known only at the end, and each event takes a row. Above kMostRows, the rows of the smallest
/// half of the allocations are dropped for good.
class AllocatorRecorder {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << 19;

  /// The state that the allocator reports after a change.
  struct State {
    std::uint64_t bytes_in_use = 0;
    std::uint64_t reserved_bytes = 0;
    std::uint64_t free_bytes = 0;
    std::uint64_t lifetime_peak_bytes = 0;
    double fragmentation = 0;
  };

  void change(Picoseconds time, const State& state);
  void allocate(Picoseconds time, std::uint64_t address, const AllocationGroup& allocation);
  void free(Picoseconds time, std::uint64_t address, std::uint64_t bytes);

  /// `shift` is added to all times.
  AllocatorProfile finish(std::string name, Picoseconds shift);

 private:
  static constexpr std::uint32_t kFreed = 0xffff'ffff;

  struct Row {
    Picoseconds time = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint32_t group = kFreed;  ///< index into groups_
  };

  /// The key that distinguishes groups.
  using GroupKey = std::tuple<std::string, std::string, std::string, std::string, std::uint64_t, std::uint64_t>;

  std::uint32_t group_of(const AllocationGroup& allocation);
  void add_row(const Row& row);
  void find_held_at_peak();

  AllocatorProfile result_;
  double fragmentation_sum_ = 0;
  MemoryTimeline timeline_;
  std::map<GroupKey, std::uint32_t> group_ids_;
  std::vector<AllocationGroup> groups_;
  std::vector<Row> rows_;
};

/// Gathers the profiles of all allocators of a host.
class MemoryProfileBuilder final : public EventSink {
 public:
  void take(const TraceEvent& event) override;
  ArgumentGroups groups_of(std::string_view argument) const override;
  EventUse use_of(std::string_view name) override;

  /// `shift` is added to all times.
  MemoryProfile finish(Picoseconds shift);

 private:
  std::map<std::string, AllocatorRecorder, std::less<>> allocators_;
  std::uint64_t incomplete_events_ = 0;
};

/// A step as the host marks it.
struct HostStep {
  Interval span;
  std::optional<std::int64_t> number;  ///< `step_num`
  std::optional<std::int64_t> group;   ///< `group_id`: the profiler's own count, shared by what the step launched

  friend bool operator==(const HostStep&, const HostStep&) = default;
};

/// The tracing of a tf.function's Python function to a graph.
struct FunctionTracing {
  Interval span;
  std::string function;               ///< "train_step"; empty if the trace does not say
  std::optional<std::int64_t> count;  ///< how often it was traced since the job began, including this time

  friend bool operator==(const FunctionTracing&, const FunctionTracing&) = default;
};

/// The activity of a host's threads, as far as a step's time is divided by it. Each list of intervals is sorted, and
/// they do not touch: it is the time in which at least one thread does it.
struct HostActivity {
  std::vector<Interval> compute;  ///< ops of the job, without those of tf.data's functions and inside of GetNext
  /// Starting kernels and copies on a device: calls of the driver, ops that contain such calls, and the rest of the
  /// executor's runs, which prepare the next launch. Ops on the CPU within these runs are `compute`. Without devices
  /// nothing is launched, and runs of executors are `compute`. Source: HostPrepare of
  /// xprof/convert/op_metrics_to_record.h and xplane_to_step_events.cc.
  std::vector<Interval> launch;
  std::vector<Interval> compile;          ///< functions are traced to graphs, or compiled (XLA)
  std::vector<Interval> xla;              ///< the part in XLA's compiler
  std::vector<FunctionTracing> tracings;  ///< sorted by start; only the outermost of nested ones
  std::vector<Interval> output;           ///< ops write summaries or checkpoints
  /// JAX's runtime prepares the host's arrays for their copies to GPUs: it brings them into the device's layout and
  /// into pinned memory ("H2D Dispatch"). The device's stream shows only the transfer after it.
  std::vector<Interval> staging;
  /// Markers of steps (`step_num`), events named like a step of training or evaluation ("train_function"), and events
  /// that the profiler took for the root of a step (argument `step_name`). Sorted; they may overlap. Source:
  /// ConvertHostThreadsXLineToStepEvents() of xprof/convert/xplane_to_step_events.cc.
  std::vector<HostStep> steps;
};

/// Gathers it from all events of the host, in memory that does not grow with the trace.
class HostActivityBuilder final : public EventSink {
 public:
  /// `tf_data_functions` are the ids of the functions that tf.data calls: runs of these are no work of the job. They
  /// outlive this.
  explicit HostActivityBuilder(const IdSet& tf_data_functions, LineOrder order = LineOrder::any)
      : tf_data_functions_(tf_data_functions), threads_(order, ThreadWalk(*this)) {}

  void begin(const EventHeader& header) override;
  void take(const TraceEvent& event) override;
  ArgumentGroups groups_of(std::string_view argument) const override;
  EventUse use_of(std::string_view name) override;
  void end_line(const EventLine& line) override;
  /// Ends a file: lines and ids of the next file are others, even if their numbers are the same.
  void end_file();
  HostActivity finish();

  /// See LineWalks.
  bool is_disordered() const { return threads_.is_disordered(); }

 private:
  enum class Role : std::uint8_t { op, executor, driver_call, tf_data };

  struct Run {
    Interval span;
    std::uint64_t function_id = 0;  ///< for an executor's run: the function whose ops it runs
    Role role = Role::op;
  };

  /// The meaning of an event's name.
  struct NameMeaning {
    EventKind kind = EventKind::other;
    bool is_like_a_step = false;
    bool may_be_marked = true;
    bool is_output_op = false;
    bool is_staging = false;
  };
  static NameMeaning meaning_of(std::string_view name);

  /// Walks the outermost runs of one thread, with the runs nested in them. A run belongs to the job if no event of
  /// tf.data contains it; in a run of an executor, if the executor's run does.
  class ThreadWalk {
   public:
    explicit ThreadWalk(HostActivityBuilder& builder) : builder_(&builder) {}

    static bool is_before(const Run& a, const Run& b) {
      return a.span.start < b.span.start || (a.span.start == b.span.start && a.span.end > b.span.end);
    }
    void take(const Run& run);
    void finish();

   private:
    void begin_outer(const Run& run);
    void begin_op(const Run& run);
    void enter_function();
    void end_op();
    void add(Interval span, bool is_launch);

    HostActivityBuilder* builder_;
    Run outer_ = {{INT64_MIN, INT64_MIN}, 0, Role::driver_call};
    Run op_ = {{INT64_MIN, INT64_MIN}, 0, Role::op};
    Picoseconds launched_until_ = INT64_MIN;  ///< of the current executor run
    bool op_launches_ = false;
  };

  /// A call of a tf.function, which contains its tracing on the same thread.
  struct FunctionCall {
    Interval span;
    std::string function;
    std::optional<std::int64_t> count;
  };

  void take_function_call(const TraceEvent& event, std::string_view mode);
  void take_compilation(const TraceEvent& event);
  void join_tracings();

  const IdSet& tf_data_functions_;
  HostActivity activity_;
  bool has_devices_ = false;
  bool has_gpus_ = false;
  NameMemo<NameMeaning> meanings_;
  SpanSet compute_;
  SpanSet launch_;
  SpanSet staging_;
  LineWalks<Run, ThreadWalk> threads_;
  std::map<std::size_t, std::vector<FunctionCall>> function_calls_;  ///< by EventLine::index
  std::map<std::size_t, std::vector<Interval>> tracings_;            ///< by EventLine::index
};

/// What the pages of the Profiler guide show of a host's trace beyond its diagnosis. Times count from the same origin
/// as those of the Trace.
struct Profile {
  OpTable ops;
  HostActivity host;
  DeviceSpans devices;
  std::vector<DeviceStep> device_steps;  ///< sorted by start
  std::vector<DeviceFeed> device_feeds;  ///< by device
  /// on a device without streams, those of the program that takes most of its time
  std::vector<Interval> program_runs;
  MemoryProfile memory;
};

}  // namespace doctor
