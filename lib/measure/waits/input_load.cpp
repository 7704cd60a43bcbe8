#include "base/intervals.h"
#include "measure/lane_order.h"
#include "measure/measure_passes.h"
#include "measure/waits/busy_threads.h"

namespace doctor {
namespace {

constexpr std::size_t kMostCalls = 200;  // enough for a mean, and the work stays bounded in a long trace

std::optional<Interval> span_of_calls(const PipelineMeasurement& pipeline) {
  if (pipeline.calls.size() < pipeline.warmup_count + 2) return std::nullopt;
  const std::size_t last = std::min(pipeline.calls.size() - 1, pipeline.warmup_count + kMostCalls);
  const Interval span{pipeline.calls[pipeline.warmup_count].start, pipeline.calls[last].start};
  return span.start < span.end ? std::optional(span) : std::nullopt;
}

/// Adds up one thread.
class LaneLoad {
 public:
  LaneLoad(const Lane& lane, const IteratorForest& forest, Interval span) : lane_(lane), forest_(forest), span_(span) {}

  /// The own work of synchronous iterators: outside of nested calls and of the user's functions, whose ops count. In
  /// order of time, so that what nested calls do one after another is one piece.
  void add_iterators() {
    visit_sync_work(lane_, forest_, span_.end, [&](Interval work) { add(work, own_work_); });
  }

  void add_ops(const std::vector<OpKind>& op_kinds, const FunctionOwners& owners, std::size_t lane_index) {
    for (std::size_t index = 0; index < lane_.ops.size(); ++index) {
      const OpCall& op = lane_.ops[index];
      if (op.span.start() >= span_.end) break;
      const OpKind kind = op_kinds[index_of(op.type)];
      if (kind == OpKind::wrapper || op.span.end() <= span_.start) continue;
      // The model's own functions have ids, too, but no iterator that runs them.
      if (owners.of_op(lane_index, index) == kNoIterator) continue;
      add({op.span.start(), op.span.end()}, kind == OpKind::python ? python_ : ops_);
    }
  }

  /// An op may run inside of an iterator's own work: such a moment counts once.
  Picoseconds busy() const {
    Picoseconds busy = 0;
    Picoseconds done = INT64_MIN;
    auto work = own_work_.begin();
    auto op = ops_.begin();
    while (work != own_work_.end() || op != ops_.end()) {
      const bool takes_work = op == ops_.end() || (work != own_work_.end() && work->start <= op->start);
      const Interval next = takes_work ? *work++ : *op++;
      busy += std::max<Picoseconds>(next.end - std::max(next.start, done), 0);
      done = std::max(done, next.end);
    }
    return busy;
  }
  const std::vector<Interval>& python() const { return python_; }

 private:
  /// Starts of what is added to one row of intervals never decrease.
  void add(Interval time, std::vector<Interval>& to) const {
    time = {std::max(time.start, span_.start), std::min(time.end, span_.end)};
    if (time.start >= time.end) return;
    if (!to.empty() && time.start <= to.back().end) {
      to.back().end = std::max(to.back().end, time.end);
    } else {
      to.push_back(time);
    }
  }

  const Lane& lane_;
  const IteratorForest& forest_;
  const Interval span_;
  std::vector<Interval> own_work_;
  std::vector<Interval> ops_;
  std::vector<Interval> python_;
};

}  // namespace

std::optional<InputLoad> measure_input_load(const Trace& trace, const IteratorForest& forest,
                                            const std::vector<OpKind>& op_kinds, const FunctionOwners& owners,
                                            const ThreadActivity& activity, const PipelineMeasurement& pipeline,
                                            const WorkOptions& work) {
  const std::optional<Interval> span = span_of_calls(pipeline);
  if (!span || !trace.lanes_are_threads) return std::nullopt;
  InputLoad load;
  load.span = *span;
  std::vector<Interval> python;
  const auto measure = [&](std::size_t lane) {
    LaneLoad of_lane(trace.lanes[lane], forest, *span);
    of_lane.add_iterators();
    of_lane.add_ops(op_kinds, owners, lane);
    return std::pair(of_lane.busy(), of_lane.python());
  };
  add_up_lanes(trace, work, measure, [&](const auto& of_lane) {
    load.busy += of_lane.first;
    python.insert(python.end(), of_lane.second.begin(), of_lane.second.end());
  });
  load.python = total_length(merged(std::move(python)));
  load.busy_threads = activity.during(std::span(&*span, 1)).all;
  return load;
}

}  // namespace doctor
