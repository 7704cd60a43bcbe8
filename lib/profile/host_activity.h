#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_set.h"
#include "base/time.h"
#include "profile/line_walks.h"
#include "profile/span_set.h"
#include "trace/event_kind.h"
#include "trace/event_reader.h"

namespace doctor {

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

}  // namespace doctor
