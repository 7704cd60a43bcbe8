#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "measure/busy_threads.h"
#include "measure/cadence.h"
#include "measure/critical_path.h"
#include "measure/function_ops.h"
#include "measure/intervals.h"
#include "measure/iterator_times.h"
#include "measure/measurements.h"
#include "measure/op_kind.h"
#include "measure/path_walker.h"
#include "tree/dataset_kind.h"

namespace doctor {
namespace {

/// The consumer's calls of one root, by index into forest.root_calls.
struct CallsOfRoot {
  IteratorId root = kNoIterator;
  std::vector<std::size_t> calls;
  std::set<IteratorId> feeding_roots;  ///< other pipelines that its waits were followed into
};

/// Measures one trace: attributes every call once to rank the iterators, and those of the culprits once more to see
/// what their functions did, so that the segments of a long trace need not be kept.
class HostMeasurer {
 public:
  HostMeasurer(const Trace& trace, const IteratorForest& forest)
      : trace_(trace),
        forest_(forest),
        path_(trace, forest),
        walker_(path_),
        op_kinds_(op_kinds_of(trace.strings)),
        times_(add_up_calls(trace, forest)) {}

  HostMeasurement measure();

 private:
  void describe_trace();
  std::vector<CallsOfRoot> group_calls() const;
  PipelineMeasurement measure_pipeline(CallsOfRoot& group);
  void add_call(const RootCall& call, CallsOfRoot& group, PhaseMeasurement& phase);
  void finish_phase(const CallsOfRoot& group, std::size_t first, std::size_t last, PhaseMeasurement& phase);
  void measure_function(std::span<const std::size_t> calls, PhaseMeasurement& phase);
  IteratorId find_culprit(const PhaseMeasurement& phase) const;
  void describe_pipeline(const CallsOfRoot& group, PipelineMeasurement& pipeline) const;
  std::optional<std::int64_t> cpu_budget(IteratorId root) const;

  const Trace& trace_;
  const IteratorForest& forest_;
  CriticalPath path_;
  CriticalPath::Walker walker_;
  std::vector<OpKind> op_kinds_;      ///< indexed by StringId
  std::vector<IteratorTimes> times_;  ///< indexed by IteratorId
  HostMeasurement result_;
};

void HostMeasurer::describe_trace() {
  result_.path = trace_.path;
  result_.format = trace_.format;
  result_.bytes = trace_.bytes;
  result_.hosts = trace_.hosts;
  result_.devices = trace_.devices;
  result_.event_count = trace_.event_count;
  result_.iterator_event_count = trace_.iterator_event_count;
  result_.window = trace_.window.end - trace_.window.start;
  result_.loss = trace_.loss;
  std::vector<bool> is_device_hop;
  for (std::size_t index = 0; index < forest_.iterators.size(); ++index) {
    is_device_hop.push_back(path_.is_device_hop(static_cast<IteratorId>(index)));
  }
  result_.iterators = measure_iterators(trace_, forest_, times_, is_device_hop);
}

std::vector<CallsOfRoot> HostMeasurer::group_calls() const {
  std::map<IteratorId, CallsOfRoot> groups;
  for (std::size_t index = 0; index < forest_.root_calls.size(); ++index) {
    CallsOfRoot& group = groups[forest_.root_calls[index].root];
    group.root = forest_.root_calls[index].root;
    group.calls.push_back(index);
  }
  std::vector<CallsOfRoot> result;
  result.reserve(groups.size());
  for (auto& [root, group] : groups) result.push_back(std::move(group));
  return result;
}

void HostMeasurer::add_call(const RootCall& call, CallsOfRoot& group, PhaseMeasurement& phase) {
  ++phase.call_count;
  phase.waited += call.span.end - call.span.start;
  Picoseconds attributed = 0;
  for (const Segment& segment : walker_.attribute(call)) {
    const Picoseconds length = segment.span.end - segment.span.start;
    attributed += length;
    if (segment.kind == SegmentKind::handoff) phase.handoff += length;
    if (segment.kind == SegmentKind::unseen) phase.unseen += length;
    if (segment.kind == SegmentKind::outside) phase.outside += length;
    if (segment.iterator == kNoIterator) continue;
    const IteratorId root = forest_[segment.iterator].root;
    if (root != group.root) group.feeding_roots.insert(root);
    if (segment.kind != SegmentKind::self && segment.kind != SegmentKind::function) continue;
    phase.critical[index_of(segment.iterator)] += length;
    if (segment.kind == SegmentKind::function) phase.in_function[index_of(segment.iterator)] += length;
  }
  result_.unattributed += call.span.end - call.span.start - attributed;
}

IteratorId HostMeasurer::find_culprit(const PhaseMeasurement& phase) const {
  IteratorId culprit = kNoIterator;
  bool culprit_is_root = true;
  for (std::size_t index = 0; index < phase.critical.size(); ++index) {
    if (phase.critical[index] == 0) continue;
    const std::string& kind = forest_.iterators[index].short_name;
    // The runtime's own outermost iterator is the culprit only if nothing that the user wrote is.
    const bool is_root = kind == "Root" || kind == "Model";
    const bool is_better = culprit == kNoIterator || (culprit_is_root && !is_root) ||
                           (culprit_is_root == is_root && phase.critical[index] > phase.critical[index_of(culprit)]);
    if (!is_better) continue;
    culprit = static_cast<IteratorId>(index);
    culprit_is_root = is_root;
  }
  return culprit;
}

/// `first` and `last` delimit the phase within group.calls.
void HostMeasurer::finish_phase(const CallsOfRoot& group, std::size_t first, std::size_t last,
                                PhaseMeasurement& phase) {
  if (first == last) return;
  phase.culprit = find_culprit(phase);
  if (!forest_.iterators.empty()) {
    std::vector<Interval> waits;
    for (std::size_t index = first; index < last; ++index) waits.push_back(forest_.root_calls[group.calls[index]].span);
    phase.busy_threads = average_busy_threads(trace_, forest_, op_kinds_, united(std::move(waits)));
  }
  if (phase.culprit == kNoIterator) return;
  if (phase.in_function[index_of(phase.culprit)] > 0) {
    measure_function(std::span(group.calls).subspan(first, last - first), phase);
  }
}

/// What the culprit's function did during the waits. Where calls of several consumers overlap, a moment counts once.
void HostMeasurer::measure_function(std::span<const std::size_t> calls, PhaseMeasurement& phase) {
  const FunctionIds functions(trace_, forest_, phase.culprit);
  FunctionOps ops(trace_, op_kinds_, functions);
  std::vector<Interval> windows;
  Picoseconds done = std::numeric_limits<Picoseconds>::min();
  for (const std::size_t call : calls) {
    windows.clear();
    for (const Segment& segment : walker_.attribute(forest_.root_calls[call])) {
      const Interval window{std::max(segment.span.start, done), segment.span.end};
      const bool is_wanted = segment.iterator == phase.culprit && segment.kind == SegmentKind::function;
      if (is_wanted && window.start < window.end) windows.push_back(window);
    }
    ops.add(windows);
    done = std::max(done, forest_.root_calls[call].span.end);
  }
  for (const auto& [type, total] : ops.totals()) {
    if (total > 0) phase.function_ops.push_back({std::string(trace_.strings[type]), total});
    if (op_kinds_[index_of(type)] == OpKind::python) phase.python += total;
  }
  std::sort(phase.function_ops.begin(), phase.function_ops.end(),
            [](const FunctionOp& a, const FunctionOp& b) { return a.self != b.self ? a.self > b.self : a.op < b.op; });
}

/// From the root's own attribute; before TF 2.5 it has none, and the runtime sizes its pools by the cores.
std::optional<std::int64_t> HostMeasurer::cpu_budget(IteratorId root) const {
  if (root != kNoIterator) {
    const std::optional<std::int64_t> budget = number_attribute(trace_, forest_[root], "cpu_budget");
    if (budget && *budget > 0) return budget;
  }
  std::int64_t compute_threads = 0;
  std::int64_t pool_threads = 0;
  for (const Lane& lane : trace_.lanes) {
    const std::string_view name = trace_.strings[lane.name];
    if (name.find("tf_Compute") != std::string_view::npos) ++compute_threads;
    if (name.find("Eigen") != std::string_view::npos) ++pool_threads;
  }
  const std::int64_t threads = compute_threads > 0 ? compute_threads : pool_threads;
  return threads > 0 ? std::optional(threads) : std::nullopt;
}

void HostMeasurer::describe_pipeline(const CallsOfRoot& group, PipelineMeasurement& pipeline) const {
  std::set<IteratorId> roots = group.feeding_roots;
  roots.insert(group.root);
  for (std::size_t index = 0; index < forest_.iterators.size(); ++index) {
    if (roots.contains(forest_.iterators[index].root)) pipeline.members.push_back(static_cast<IteratorId>(index));
  }
  Picoseconds most_work = 0;
  for (const IteratorId member : pipeline.members) {
    if (result_.iterators[index_of(member)].self <= most_work) continue;
    most_work = result_.iterators[index_of(member)].self;
    pipeline.busiest = member;
  }
  pipeline.shuffle_fill = find_shuffle_fill(trace_, forest_, times_, pipeline.members);
  pipeline.cache_fills = find_cache_fills(forest_, pipeline.members);
  pipeline.cpu_budget = cpu_budget(group.root);
  if (group.root == kNoIterator) return;
  pipeline.is_device = path_.has_device_hop(group.root);
  IteratorId iterator = group.root;
  while (forest_[iterator].short_name != "Prefetch" && is_frame(forest_[iterator].short_name) &&
         !forest_[iterator].children.empty()) {
    iterator = forest_[iterator].children.front();
  }
  pipeline.outermost = iterator;
  if (forest_[iterator].short_name == "Prefetch") pipeline.prefetch = iterator;
}

PipelineMeasurement HostMeasurer::measure_pipeline(CallsOfRoot& group) {
  PipelineMeasurement pipeline;
  pipeline.root = group.root;
  std::vector<Picoseconds> latencies;
  for (const std::size_t index : group.calls) {
    const Interval span = forest_.root_calls[index].span;
    pipeline.calls.push_back(span);
    latencies.push_back(span.end - span.start);
  }
  pipeline.warmup_count = count_warmup_calls(latencies, trace_.make_iterator_count > 0);
  measure_cadence(trace_, pipeline);
  for (PhaseMeasurement* phase : {&pipeline.warmup, &pipeline.steady}) {
    phase->critical.assign(forest_.iterators.size(), 0);
    phase->in_function.assign(forest_.iterators.size(), 0);
  }
  for (std::size_t index = 0; index < group.calls.size(); ++index) {
    PhaseMeasurement& phase = index < pipeline.warmup_count ? pipeline.warmup : pipeline.steady;
    add_call(forest_.root_calls[group.calls[index]], group, phase);
  }
  finish_phase(group, 0, pipeline.warmup_count, pipeline.warmup);
  finish_phase(group, pipeline.warmup_count, group.calls.size(), pipeline.steady);
  describe_pipeline(group, pipeline);
  return pipeline;
}

HostMeasurement HostMeasurer::measure() {
  describe_trace();
  std::set<IteratorId> feeding_roots;
  for (CallsOfRoot& group : group_calls()) {
    result_.pipelines.push_back(measure_pipeline(group));
    feeding_roots.insert(group.feeding_roots.begin(), group.feeding_roots.end());
  }
  for (PipelineMeasurement& pipeline : result_.pipelines) {
    pipeline.feeds_another = pipeline.root != kNoIterator && feeding_roots.contains(pipeline.root);
  }
  std::stable_sort(result_.pipelines.begin(), result_.pipelines.end(),
                   [](const PipelineMeasurement& a, const PipelineMeasurement& b) {
                     return a.feeds_another != b.feeds_another ? !a.feeds_another : a.total > b.total;
                   });
  return std::move(result_);
}

}  // namespace

bool shows_tf_data(const Measurements& measurements) {
  return std::any_of(measurements.hosts.begin(), measurements.hosts.end(),
                     [](const HostMeasurement& host) { return !host.iterators.empty() || !host.pipelines.empty(); });
}

HostMeasurement measure(const Trace& trace, const IteratorForest& forest) {
  return HostMeasurer(trace, forest).measure();
}

}  // namespace doctor
