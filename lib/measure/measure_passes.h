#pragma once

#include <set>

#include "base/time.h"
#include "base/work.h"
#include "measure/functions/function_owners.h"
#include "measure/functions/op_kind.h"
#include "measure/measurements.h"
#include "measure/waits/busy_threads.h"
#include "measure/waits/critical_path.h"
#include "trace/trace.h"
#include "trace/trace_needs.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// What each iterator held of some calls. It is as large as the forest, and is reused for one part of the calls after
/// another.
class HeldSums {
 public:
  struct Sum {
    Picoseconds critical = 0;
    Picoseconds in_function = 0;
    Picoseconds in_first_half = 0;  ///< the part of `critical` in the first half
    Sighting longest;
  };
  struct Entry {
    IteratorId id = kNoIterator;
    Sum sum;
  };

  explicit HeldSums(std::size_t iterator_count) : sums_(iterator_count), is_used_(iterator_count, false) {}

  Sum& operator[](IteratorId id);

  /// The iterators that were used since the last call, by id; all are empty afterwards.
  std::vector<Entry> take();

 private:
  std::vector<Sum> sums_;
  std::vector<bool> is_used_;
  std::vector<IteratorId> used_;
};

/// The objects with which one thread attributes calls. Making them takes time proportional to the trace's threads and
/// iterators, so one set serves all pipelines.
struct Attributor {
  Attributor(const CriticalPath& path, const IteratorForest& forest) : walker(path), held(forest.iterators.size()) {}

  CriticalPath::Walker walker;
  HeldSums held;
};

/// What measuring any phase of one trace needs.
struct PhaseTools {
  const Trace& trace;
  const IteratorForest& forest;
  const CriticalPath& path;
  const std::vector<OpKind>& op_kinds;  ///< indexed by StringId
  const FunctionOwners& owners;
  const ThreadActivity& activity;
  WorkOptions work;
  std::deque<Attributor>& attributors;  ///< grows if more are needed at once
};

/// The calls of one pipeline in one phase, with results for the measurer of the pipeline only.
struct MeasuredPhase {
  PhaseMeasurement phase;
  std::set<IteratorId> feeding_roots;  ///< roots of other pipelines that its waits were followed into
  Picoseconds unattributed = 0;        ///< latency that the segments missed
};

/// Whether the pipeline is one of those whose calls are wanted.
bool is_requested(const PipelineMeasurement& pipeline, const CallRequest& request);

/// Fills PipelineMeasurement::call_details of `host`, whose pipelines are measured, with the requested calls in order
/// of time.
void measure_call_details(const IteratorForest& forest, const CriticalPath& path, const CallRequest& request,
                          HostMeasurement& host);

/// The time that each iterator held of these calls, by its own work and its function. Calls are indices into
/// forest.root_calls, in order of time.
ByIterator<Picoseconds> held_times(const PhaseTools& tools, std::span<const std::size_t> calls);

/// The iterator that holds the most; the runtime's own outermost one only if nothing else holds anything.
IteratorId find_culprit(const IteratorForest& forest, const ByIterator<Picoseconds>& held);

/// Attributes the calls (indices into forest.root_calls, in order of time) of the pipeline `root`, finds the culprit
/// and adds up what its function did. The segments of a long trace need not be kept: an early part of the calls tells
/// the likely culprit, and the ops of its function are added up on the way. If that turns out wrong, the calls are
/// attributed again.
MeasuredPhase measure_phase(const PhaseTools& tools, IteratorId root, std::span<const std::size_t> calls);

/// Calls that read the same number of inputs, and their total duration.
struct CallsAlike {
  std::uint64_t count = 0;
  Picoseconds duration = 0;
};

/// The calls of one iterator added up, both nested and background calls.
struct IteratorTimes {
  std::uint64_t calls = 0;
  Picoseconds total = 0;
  Picoseconds own = 0;  ///< the part of `total` outside of nested iterator calls
  Sighting longest_call;
  bool is_shuffle = false;
  /// For a shuffle, its calls by the number of inputs that each read. It has millions of calls, but few different
  /// numbers.
  std::map<std::uint64_t, CallsAlike> by_inputs;

  void add(const IteratorTimes& other);
};

/// Tests whether the iterator's own time on the calling thread is spent waiting for other threads.
bool waits_for_others(const IteratorMeasurement& iterator);

/// Adds up all calls in one pass over the trace; indexed by IteratorId.
std::vector<IteratorTimes> add_up_calls(const Trace& trace, const IteratorForest& forest, const WorkOptions& work = {});

/// Names, links, attributes and times of every logical iterator, indexed by IteratorId. `times` and `is_device_hop` are
/// indexed likewise.
IndexedBy<IteratorId, std::vector<IteratorMeasurement>> measure_iterators(const Trace& trace,
                                                                          const IteratorForest& forest,
                                                                          const std::vector<IteratorTimes>& times,
                                                                          const std::vector<bool>& is_device_hop);

/// Finds shuffle and cache fills among `members`; see measure/README.md, "Warm-up and fills".
std::optional<ShuffleFill> find_shuffle_fill(const Trace& trace, const IteratorForest& forest,
                                             const std::vector<IteratorTimes>& times,
                                             const std::vector<IteratorId>& members);
std::vector<CacheFill> find_cache_fills(const IteratorForest& forest, const std::vector<IteratorId>& members);

/// The number of first calls that are warm-up. There are up to three, each more than 5 times the median of the calls
/// after it and more than 1 ms. Fewer than three later calls may be half as long or longer: otherwise they are stalls
/// that recur. If there are two calls only, the first is warm-up if the pipeline starts inside the window.
std::size_t count_warmup_calls(std::span<const Picoseconds> latencies, bool pipeline_starts_in_window);

/// Fills latencies, shares and step shares of a pipeline whose `calls` and `warmup_count` are set. `markers` are the
/// steps of the job that the trace marks, sorted by start.
void measure_cadence(const Trace& trace, std::span<const StepMarker> markers, PipelineMeasurement& pipeline);

/// Fills the shares of the waits that no device hides, after measure_cadence(). `computing` is the time in which any
/// device computes, disjoint and sorted. Devices of one job work in step, so all of them idle while it waits for data.
void measure_exposed_waits(const Trace& trace, std::span<const StepMarker> markers, std::span<const Interval> computing,
                           PipelineMeasurement& pipeline);

/// How long XLA still runs programs that were dispatched before `time`. A loop that does not wait for its results runs
/// ahead of the programs, and its steps take as long as they do. 0 if later programs are other work, which begins after
/// a pause. `runs` are those of programs, sorted by start.
Picoseconds work_after(std::span<const Interval> runs, Picoseconds time);

/// The datasets that a parallel interleave works on, by number, with the times of its inputs, which run on threads of
/// their own. Empty for every other iterator, and if the trace does not number its inputs.
std::vector<InterleavedDataset> interleaved_datasets(const Trace& trace, const IteratorForest& forest,
                                                     const LogicalIterator& interleave);

/// IteratorMeasurement::function of every iterator, indexed by IteratorId. `waits` is indexed likewise: true if the
/// iterator waits for other threads, so that its functions run beside its calls. Other iterators run their functions
/// inside their calls, whose time has them already: 0. One pass over all ops.
std::vector<Picoseconds> add_up_function_work(const Trace& trace, const FunctionOwners& owners,
                                              const std::vector<bool>& waits, const WorkOptions& work = {});

/// The work of the host's input pipelines during the first 200 consecutive steady calls of `pipeline`: enough to tell,
/// and a bound on the cost. It is a lower bound, because Eigen threads that do a part of such an op are left out, and
/// so are copies that leave no events. nullopt with fewer than two steady calls, or if threads are not known.
std::optional<InputLoad> measure_input_load(const Trace& trace, const IteratorForest& forest,
                                            const std::vector<OpKind>& op_kinds, const FunctionOwners& owners,
                                            const ThreadActivity& activity, const PipelineMeasurement& pipeline,
                                            const WorkOptions& work = {});

/// Finds out whether the pipeline is made for every step: each creation mostly has one call, or two (`for x in
/// dataset.take(1)`: the second finds the end). If so, it sets `remade` and empties `iteration_starts`. `calls` are
/// those of `pipeline.calls`, by index into `forest.root_calls`.
void find_remaking(const Trace& trace, const IteratorForest& forest, std::span<const std::size_t> calls,
                   PipelineMeasurement& pipeline);

/// What the trace says of itself: files, hosts, threads, the window, what was lost.
void describe_trace(const Trace& trace, const IteratorForest& forest, HostMeasurement& host);

/// The activity while calls waited for one iterator's function. The sums are whole picoseconds, so they do not depend
/// on the order of addition. Wrapper ops are left out.
struct FunctionActivity {
  /// the iterator whose function the op is in, kNoIterator if none, and the op's type
  using OpOf = std::pair<IteratorId, StringId>;

  std::map<StringId, Picoseconds> ops;  ///< ops of the function by type; a moment counts once for a type
  Picoseconds idle = 0;                 ///< the time in which none of these ops ran
  std::map<OpOf, Picoseconds> beside;   ///< other ops in the idle time; a moment counts once for each

  void add(const FunctionActivity& other);
};

/// Adds up the activity of one iterator's functions, GetNext call by GetNext call, so that the pieces of a long trace
/// need not be kept.
class FunctionOps {
 public:
  /// `op_kinds` is indexed by StringId. `from` is at or before the start of the first window. All arguments must
  /// outlive this object.
  FunctionOps(const Trace& trace, const std::vector<OpKind>& op_kinds, const FunctionOwners& owners,
              IteratorId iterator, Picoseconds from = std::numeric_limits<Picoseconds>::min());

  /// Adds the ops within `windows` (disjoint, sorted), which must begin after all windows added before.
  void add(std::span<const Interval> windows);

  const FunctionActivity& activity() const { return activity_; }

 private:
  struct Part {
    FunctionActivity::OpOf op;
    Interval time;
  };
  struct LaneOps {
    std::size_t lane = 0;  ///< index into Trace::lanes
    const ChunkedVector<OpCall>* ops = nullptr;
    std::size_t next = 0;              ///< earlier ops began before the windows to come
    std::vector<std::size_t> ongoing;  ///< earlier ops that may reach into these windows
  };

  void collect_parts(LaneOps& lane, std::span<const Interval> windows);
  void collect_part(const LaneOps& lane, std::size_t index, std::span<const Interval> windows);
  void add_idle_time(std::span<const Interval> windows);

  const std::vector<OpKind>& op_kinds_;
  const FunctionOwners& owners_;
  const IteratorId iterator_;
  std::vector<LaneOps> lanes_;  ///< lanes that have ops
  std::vector<Part> parts_;     ///< ops of the function, in the windows
  std::vector<Part> others_;    ///< other ops, whole
  std::vector<Interval> idle_;
  std::vector<Interval> clipped_;
  FunctionActivity activity_;
};

}  // namespace doctor
