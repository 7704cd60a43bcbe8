#include "measure/measure.h"

#include "base/intervals.h"
#include "base/parallel.h"
#include "measure/cycles/cycle_recording.h"
#include "measure/functions/function_owners.h"
#include "measure/functions/function_types.h"
#include "measure/functions/op_kind.h"
#include "measure/measure_passes.h"
#include "measure/steps/step_table.h"
#include "measure/timeline/timeline_recording.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// The consumer's calls of one root, by index into forest.root_calls.
struct CallsOfRoot {
  IteratorId root = kNoIterator;
  std::vector<std::size_t> calls;
  std::set<IteratorId> feeding_roots;  ///< other pipelines that its waits were followed into
};

/// The iterators below each root, the root included.
std::map<IteratorId, std::vector<IteratorId>> members_of_roots(const IteratorForest& forest) {
  std::map<IteratorId, std::vector<IteratorId>> members;
  for (std::size_t index = 0; index < forest.iterators.size(); ++index) {
    members[forest.iterators[index].root].push_back(static_cast<IteratorId>(index));
  }
  return members;
}

class HostMeasurer {
 public:
  HostMeasurer(const Trace& trace, const IteratorForest& forest, const WorkOptions& work)
      : trace_(trace),
        forest_(forest),
        op_kinds_(op_kinds_of(trace.strings)),
        path_(trace, forest, op_kinds_),
        owners_(trace, forest, op_kinds_, work),
        times_(add_up_calls(trace, forest, work)),
        groups_(group_calls()),
        activity_(trace, forest, op_kinds_, work),
        members_of_roots_(members_of_roots(forest)),
        tools_{trace, forest, path_, op_kinds_, owners_, activity_, work, attributors_} {}

  HostMeasurement measure(const TraceNeeds& needs, SecondReading reading, const SourceLines& lines);

 private:
  void measure_all_iterators();
  void measure_function_work();
  std::vector<StepMarker> unmarked_steps() const;
  std::vector<CallsOfRoot> group_calls() const;
  void take_calls(const CallsOfRoot& group, PipelineMeasurement& pipeline) const;
  PipelineMeasurement measure_pipeline(CallsOfRoot& group);
  PhaseMeasurement measure_phase(CallsOfRoot& group, std::span<const std::size_t> calls);
  void find_culprits_of_pace(std::span<const std::size_t> calls, PipelineMeasurement& pipeline) const;
  void describe_pipeline(const CallsOfRoot& group, PipelineMeasurement& pipeline) const;
  std::optional<std::int64_t> cpu_budget(IteratorId root) const;
  std::uint32_t iteration_of(const RootCall& call) const;
  void find_next_frames(const CallsOfRoot& group, PipelineMeasurement& pipeline) const;
  void add_load_of_makers(PipelineMeasurement& pipeline) const;

  const Trace& trace_;
  const IteratorForest& forest_;
  std::vector<OpKind> op_kinds_;  ///< indexed by StringId
  CriticalPath path_;
  std::vector<Interval> computing_;  ///< when any device computes, disjoint and sorted
  std::vector<StepMarker> unmarked_steps_;
  FunctionOwners owners_;
  std::vector<IteratorTimes> times_;  ///< indexed by IteratorId
  std::vector<CallsOfRoot> groups_;
  ThreadActivity activity_;
  std::map<IteratorId, std::vector<IteratorId>> members_of_roots_;
  std::deque<Attributor> attributors_;
  PhaseTools tools_;
  std::vector<bool> waits_;  ///< indexed by IteratorId: for other threads
  HostMeasurement result_;
};

void HostMeasurer::measure_all_iterators() {
  std::vector<bool> is_device_hop;
  for (std::size_t index = 0; index < forest_.iterators.size(); ++index) {
    is_device_hop.push_back(path_.is_device_hop(static_cast<IteratorId>(index)));
  }
  std::vector<FunctionTypes> types;
  std::vector<IteratorHistory> histories;
  // Each is a walk over all calls, or over all ops, on one thread.
  run_parallel(threads_for(tools_.work, trace_.iterator_event_count), 3, [&](std::size_t task) {
    if (task == 0) result_.iterators = measure_iterators(trace_, forest_, times_, is_device_hop);
    if (task == 1) types = function_types_of(trace_, forest_, owners_);
    if (task == 2) histories = measure_histories(trace_, forest_);
  });
  measure_function_work();
  for (std::size_t index = 0; index < types.size(); ++index) {
    result_.iterators[index].function_ops = std::move(types[index].ops);
    result_.iterators[index].random_ops = std::move(types[index].random);
  }
  for (std::size_t index = 0; index < histories.size(); ++index) {
    result_.iterators[index].history = std::move(histories[index]);
  }
}

void HostMeasurer::measure_function_work() {
  for (const IteratorMeasurement& iterator : result_.iterators) waits_.push_back(waits_for_others(iterator));
  const std::vector<Picoseconds> functions = add_up_function_work(trace_, owners_, waits_, tools_.work);
  for (std::size_t index = 0; index < functions.size(); ++index) result_.iterators[index].function = functions[index];
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

/// A damaged trace may say anything: no number of cores that a machine cannot have.
std::optional<std::int64_t> HostMeasurer::cpu_budget(IteratorId root) const {
  constexpr std::int64_t kMostCores = 1 << 20;  // more than any machine has
  if (root == kNoIterator) return std::nullopt;
  const std::optional<std::int64_t> budget = number_attribute(trace_, forest_[root], "cpu_budget");
  return budget && *budget > 0 && *budget <= kMostCores ? budget : std::nullopt;
}

void HostMeasurer::describe_pipeline(const CallsOfRoot& group, PipelineMeasurement& pipeline) const {
  pipeline.fed_by.assign(group.feeding_roots.begin(), group.feeding_roots.end());
  std::set<IteratorId> roots = group.feeding_roots;
  roots.insert(group.root);
  for (const IteratorId root : roots) {
    const auto members = members_of_roots_.find(root);
    if (members == members_of_roots_.end()) continue;
    pipeline.members.insert(pipeline.members.end(), members->second.begin(), members->second.end());
  }
  std::sort(pipeline.members.begin(), pipeline.members.end());
  Picoseconds most_work = 0;
  for (const IteratorId member : pipeline.members) {
    if (result_.iterators[member].work() <= most_work) continue;
    most_work = result_.iterators[member].work();
    pipeline.busiest = member;
  }
  pipeline.shuffle_fill = find_shuffle_fill(trace_, forest_, times_, pipeline.members);
  pipeline.cache_fills = find_cache_fills(forest_, pipeline.members);
  pipeline.cpu_budget = cpu_budget(group.root);
  if (group.root == kNoIterator) return;
  pipeline.is_device = path_.has_device_hop(group.root);
  pipeline.is_reduced = is_in_reduce(forest_[group.root].long_name);
  IteratorId iterator = group.root;
  while (forest_[iterator].has(Trait::frame) && !forest_[iterator].children.empty()) {
    iterator = forest_[iterator].children.front();
  }
  pipeline.outermost = iterator;
  if (forest_[iterator].has(Trait::prefetch)) pipeline.prefetch = iterator;
}

PhaseMeasurement HostMeasurer::measure_phase(CallsOfRoot& group, std::span<const std::size_t> calls) {
  MeasuredPhase measured = doctor::measure_phase(tools_, group.root, calls);
  group.feeding_roots.insert(measured.feeding_roots.begin(), measured.feeding_roots.end());
  result_.unattributed += measured.unattributed;
  return std::move(measured.phase);
}

std::uint32_t HostMeasurer::iteration_of(const RootCall& call) const {
  if (forest_.iteration_of_instance.empty() || !call.has_rows()) return 0;
  return forest_.iteration_of_instance[index_of(call_of(trace_, call.first()).instance)];
}

/// A call belongs to the frame that holds it; another pipeline's calls have frames of their own.
void HostMeasurer::find_next_frames(const CallsOfRoot& group, PipelineMeasurement& pipeline) const {
  if (trace_.next_frames.empty()) return;
  if (group.root == kNoIterator && trace_.iterator_event_count == 0) {
    pipeline.next_of = loader_of_frame(trace_.strings[trace_.next_frames.front().name]);
    return;
  }
  auto call = pipeline.calls.begin();
  for (const PythonFrame& frame : trace_.next_frames) {
    while (call != pipeline.calls.end() && call->start < frame.span.start) ++call;
    if (call == pipeline.calls.end()) break;
    if (call->end <= frame.span.end) pipeline.next_frames.push_back(frame.span);
  }
  pipeline.next_frames = merged(std::move(pipeline.next_frames));
}

/// What threads of a loader written in Python do takes its lock and a core as tf.data's own work does.
void HostMeasurer::add_load_of_makers(PipelineMeasurement& pipeline) const {
  const std::optional<BatchMaking>& making = result_.batch_making;
  if (pipeline.next_of.empty() || !pipeline.input_load || !making || making->made_by != MadeBy::threads) return;
  pipeline.input_load->python = time_in_makers(trace_, *making, pipeline.input_load->span);
}

/// The calls as they are, the longest of them, where iterations begin, and how many are warm-up.
void HostMeasurer::take_calls(const CallsOfRoot& group, PipelineMeasurement& pipeline) const {
  pipeline.calls.reserve(group.calls.size());
  std::vector<Picoseconds> latencies;
  latencies.reserve(group.calls.size());
  std::uint32_t iteration = 0;
  for (const std::size_t index : group.calls) {
    const Interval span = forest_.root_calls[index].span;
    if (latencies.empty() || span.end - span.start > latencies[pipeline.slowest]) {
      pipeline.slowest = latencies.size();
      pipeline.slowest_lane = forest_.root_calls[index].lane;
    }
    const std::uint32_t previous = std::exchange(iteration, iteration_of(forest_.root_calls[index]));
    if (previous != iteration && !pipeline.calls.empty()) pipeline.iteration_starts.push_back(pipeline.calls.size());
    pipeline.calls.push_back(span);
    latencies.push_back(span.end - span.start);
  }
  pipeline.warmup_count = count_warmup_calls(latencies, !trace_.makings.empty());
}

PipelineMeasurement HostMeasurer::measure_pipeline(CallsOfRoot& group) {
  PipelineMeasurement pipeline;
  pipeline.root = group.root;
  take_calls(group, pipeline);
  find_remaking(trace_, forest_, group.calls, pipeline);
  find_next_frames(group, pipeline);
  const std::vector<StepMarker>& markers =
      pipeline.calls.size() == 1 && trace_.steps.empty() ? unmarked_steps_ : trace_.steps;
  measure_cadence(trace_, markers, pipeline);
  pipeline.markers_miss_calls = get_next_is_outside_markers(trace_.steps, pipeline.calls);
  if (pipeline.markers_miss_calls) pipeline.step_share.reset();
  if (!computing_.empty()) measure_exposed_waits(trace_, markers, computing_, pipeline);
  pipeline.stalls = find_stalls(pipeline.calls, pipeline.warmup_count, pipeline.iteration_starts);
  pipeline.pace_change = find_pace_change(pipeline.calls, pipeline.warmup_count);
  const std::span<const std::size_t> calls(group.calls);
  pipeline.warmup = measure_phase(group, calls.first(pipeline.warmup_count));
  pipeline.steady = measure_phase(group, calls.subspan(pipeline.warmup_count));
  describe_pipeline(group, pipeline);
  find_culprits_of_pace(group.calls, pipeline);
  return pipeline;
}

/// Some of the calls show who made them long: those around the change, and the first stalls.
void HostMeasurer::find_culprits_of_pace(std::span<const std::size_t> calls, PipelineMeasurement& pipeline) const {
  constexpr std::size_t kEnoughCalls = 200;  // enough to name a culprit, and the work stays bounded
  if (pipeline.stalls) {
    std::vector<std::size_t> stalled;
    for (std::size_t index = pipeline.stalls->first; index < calls.size() && stalled.size() < kEnoughCalls; ++index) {
      const Picoseconds latency = pipeline.calls[index].end - pipeline.calls[index].start;
      if (latency >= pipeline.stalls->shortest) stalled.push_back(calls[index]);
    }
    pipeline.stalls->culprit = find_culprit(forest_, held_times(tools_, stalled));
  }
  if (!pipeline.pace_change) return;
  PaceChange& change = *pipeline.pace_change;
  const std::size_t before = std::min(kEnoughCalls, change.from - pipeline.warmup_count);
  const std::size_t after = std::min(kEnoughCalls, calls.size() - change.from);
  const ByIterator<Picoseconds> held_after = held_times(tools_, calls.subspan(change.from, after));
  const ByIterator<Picoseconds> held_before = held_times(tools_, calls.subspan(change.from - before, before));
  const Picoseconds sign = change.is_slower() ? 1 : -1;
  ByIterator<Picoseconds> growth;
  for (const auto& [id, time] : held_after.entries()) {
    growth[id] += sign * (time / static_cast<Picoseconds>(after));
  }
  for (const auto& [id, time] : held_before.entries()) {
    growth[id] -= sign * (time / static_cast<Picoseconds>(before));
  }
  change.culprit = find_culprit(forest_, growth);
}

/// Steps without a marker, each from the start of the host's work to the end of the device's: a trace of one step, as
/// Keras records by default, is judged by them.
std::vector<StepMarker> HostMeasurer::unmarked_steps() const {
  std::vector<StepMarker> steps;
  if (!result_.profile || !trace_.steps.empty()) return steps;
  std::vector<Interval> spans;
  for (const HostStep& step : result_.profile->host.steps) spans.push_back(step.span);
  for (const DeviceStep& step : result_.profile->device_steps) spans.push_back(step.span);
  for (const Interval span : merged(std::move(spans))) steps.push_back({span.start, span.end - span.start, 0});
  return steps;
}

HostMeasurement HostMeasurer::measure(const TraceNeeds& needs, SecondReading reading, const SourceLines& lines) {
  describe_trace(trace_, forest_, result_);
  measure_all_iterators();
  result_.device_profile = std::move(reading.devices);
  result_.profile = std::move(reading.profile);
  unmarked_steps_ = unmarked_steps();
  computing_ = computing_of(result_.device_profile);
  std::set<IteratorId> feeding_roots;
  result_.pipelines.reserve(groups_.size());
  for (CallsOfRoot& group : groups_) {
    result_.pipelines.push_back(measure_pipeline(group));
    feeding_roots.insert(group.feeding_roots.begin(), group.feeding_roots.end());
  }
  for (PipelineMeasurement& pipeline : result_.pipelines) {
    pipeline.feeds_another = pipeline.root != kNoIterator && feeding_roots.contains(pipeline.root);
  }
  find_pipelines_beside_training(trace_.steps, result_.pipelines);
  std::stable_sort(result_.pipelines.begin(), result_.pipelines.end(),
                   [](const PipelineMeasurement& a, const PipelineMeasurement& b) {
                     if (a.feeds_another != b.feeds_another) return b.feeds_another;
                     return a.is_beside_training != b.is_beside_training ? b.is_beside_training : a.total > b.total;
                   });
  if (!result_.pipelines.empty() && !result_.pipelines.front().calls.empty()) {
    result_.caller_thread = trace_.lanes[result_.pipelines.front().slowest_lane].thread_id;
  }
  if (!result_.pipelines.empty() && result_.devices.empty() && computing_.empty()) {
    result_.pipelines.front().input_load =
        measure_input_load(trace_, forest_, op_kinds_, owners_, activity_, result_.pipelines.front(), tools_.work);
    add_load_of_makers(result_.pipelines.front());
  }
  find_user_calls(lines, result_);
  if (!result_.pipelines.empty()) {
    result_.cycles = record_cycles(trace_, forest_, op_kinds_, result_);
  }
  if (result_.profile) result_.steps = measure_steps(result_);
  if (needs.timeline) record_timelines(trace_, forest_, path_, owners_, waits_, *needs.timeline, result_);
  if (needs.calls) measure_call_details(forest_, path_, *needs.calls, result_);
  if (needs.call_times) {
    result_.call_times = measure_call_times(trace_, forest_, waits_, owners_, tools_.work);
  }
  return std::move(result_);
}

}  // namespace

HostMeasurement measure(const Trace& trace, const IteratorForest& forest, const WorkOptions& work,
                        const TraceNeeds& needs, SecondReading reading, const SourceLines& lines) {
  return HostMeasurer(trace, forest, work).measure(needs, std::move(reading), lines);
}

}  // namespace doctor
