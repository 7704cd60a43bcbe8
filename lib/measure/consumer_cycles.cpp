#include "measure/consumer_cycles.h"

#include <algorithm>
#include <map>

#include "base/intervals.h"

namespace doctor {
namespace {

/// Work of this host that is not the input's: ops and the executor's spans of other functions, by thread.
struct OtherWork {
  struct Piece {
    Interval time;
    std::size_t lane = 0;
  };
  std::vector<Piece> pieces;  ///< sorted by start
  Picoseconds longest = 0;
};

OtherWork find_other_work(const Trace& trace, const FunctionCosts& functions, const std::vector<OpKind>& op_kinds,
                          Interval window) {
  OtherWork work;
  const auto add = [&](PackedSpan span, std::size_t lane) {
    if (span.end() <= window.start || span.start() >= window.end) return;
    work.pieces.push_back({{span.start(), span.end()}, lane});
    work.longest = std::max(work.longest, span.duration());
  };
  for (std::size_t index = 0; index < trace.lanes.size(); ++index) {
    const Lane& lane = trace.lanes[index];
    if (trace.strings[lane.name].find("tf_data") != std::string_view::npos) continue;
    for (std::size_t op = 0; op < lane.ops.size() && lane.ops[op].span.start() < window.end; ++op) {
      if (op_kinds[index_of(lane.ops[op].type)] == OpKind::wrapper) continue;
      if (!functions.by_id.contains(lane.ops[op].function_id.value())) add(lane.ops[op].span, index);
    }
    for (std::size_t span = 0; span < lane.executor_spans.size(); ++span) {
      const ExecutorSpan& executor = lane.executor_spans[span];
      if (!functions.by_id.contains(executor.function_id.value())) add(executor.span, index);
    }
  }
  std::sort(work.pieces.begin(), work.pieces.end(), [](const OtherWork::Piece& a, const OtherWork::Piece& b) {
    return a.time.start != b.time.start ? a.time.start < b.time.start : a.lane < b.lane;
  });
  return work;
}

/// Sets how much of a gap is work of this host.
void measure_gap(const OtherWork& work, Interval gap, ConsumerStep& step) {
  step.gap = to_microseconds(std::max<Picoseconds>(0, gap.end - gap.start));
  auto piece = std::lower_bound(work.pieces.begin(), work.pieces.end(), gap.start - work.longest,
                                [](const OtherWork::Piece& one, Picoseconds time) { return one.time.start < time; });
  std::map<std::size_t, std::vector<Interval>> by_lane;
  std::vector<Interval> all;
  for (; piece != work.pieces.end() && piece->time.start < gap.end; ++piece) {
    const Interval inside{std::max(piece->time.start, gap.start), std::min(piece->time.end, gap.end)};
    if (inside.start >= inside.end) continue;
    by_lane[piece->lane].push_back(inside);
    all.push_back(inside);
  }
  step.busy = to_microseconds(total_length(merged(std::move(all))));
  for (auto& [lane, times] : by_lane) step.core_time += to_microseconds(total_length(merged(std::move(times))));
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

void set_to_median(const ConsumerCycles& consumer, std::size_t known, ConsumerStep& step) {
  const auto median = [&](double ConsumerStep::*member) {
    std::vector<double> values;
    for (std::size_t index = 0; index < known; ++index) values.push_back(consumer.steps[index].*member);
    return median_of(std::move(values));
  };
  step.gap = median(&ConsumerStep::gap);
  step.busy = median(&ConsumerStep::busy);
  step.core_time = median(&ConsumerStep::core_time);
}

/// A checkpoint, an evaluation, or the profiler itself: one gap that is much longer than all others.
void replace_single_gap(ConsumerCycles& consumer) {
  constexpr std::size_t kFewestSteps = 5;
  constexpr double kMuchLonger = 3;
  const std::size_t known = consumer.steps.size() - 1;
  if (consumer.steps.size() < kFewestSteps) return;
  const auto shorter = [](const ConsumerStep& a, const ConsumerStep& b) { return a.gap < b.gap; };
  const auto last = consumer.steps.begin() + static_cast<std::ptrdiff_t>(known);
  const auto longest = std::max_element(consumer.steps.begin(), last, shorter);
  double next_longest = 0;
  for (auto step = consumer.steps.begin(); step != last; ++step) {
    if (step != longest) next_longest = std::max(next_longest, step->gap);
  }
  if (longest->gap > kMuchLonger * next_longest) set_to_median(consumer, known, *longest);
}

/// A consumer for each thread that takes elements; where its calls overlap, for each pipeline.
std::vector<std::vector<const RootCall*>> group_calls(const std::vector<const RootCall*>& calls) {
  constexpr double kMostOverlaps = 0.1;
  std::size_t overlaps = 0;
  for (std::size_t index = 1; index < calls.size(); ++index) {
    if (calls[index]->span.start < calls[index - 1]->span.end) ++overlaps;
  }
  if (static_cast<double>(overlaps) <= kMostOverlaps * static_cast<double>(calls.size())) return {calls};
  std::map<IteratorId, std::vector<const RootCall*>> by_root;
  for (const RootCall* call : calls) by_root[call->root].push_back(call);
  std::vector<std::vector<const RootCall*>> groups;
  for (auto& [root, group] : by_root) groups.push_back(std::move(group));
  return groups;
}

InstanceId instance_of(const Trace& trace, const RootCall& call) {
  return call.rows.empty() ? kNoInstance : call_of(trace, {call.lane, call.rows.front()}).instance;
}

/// By pipeline: an iterator that is made anew is another instance than that of the pipeline's call before.
void find_new_iterations(const Trace& trace, const std::vector<const RootCall*>& calls, ConsumerCycles& consumer) {
  std::map<IteratorId, InstanceId> last;
  for (std::size_t index = 0; index < calls.size(); ++index) {
    const InstanceId instance = instance_of(trace, *calls[index]);
    const auto [known, is_first] = last.try_emplace(calls[index]->root, instance);
    if (is_first || known->second == instance) continue;
    consumer.steps[index].begins_iteration = instance != kNoInstance && known->second != kNoInstance;
    known->second = instance;
  }
}

}  // namespace

std::vector<ConsumerCycles> consumers_of(const Trace& trace, const FunctionCosts& functions,
                                         const std::vector<OpKind>& op_kinds, const std::vector<const RootCall*>& calls,
                                         const std::function<Cycle(const RootCall&)>& cycle_of) {
  std::vector<ConsumerCycles> consumers;
  if (calls.size() < 2) return consumers;
  const OtherWork work =
      find_other_work(trace, functions, op_kinds, {calls.front()->span.start, calls.back()->span.end});
  for (const std::vector<const RootCall*>& group : group_calls(calls)) {
    if (group.size() < 2) continue;
    ConsumerCycles consumer;
    const bool has_one_root = std::all_of(group.begin(), group.end(),
                                          [&](const RootCall* call) { return call->root == group.front()->root; });
    if (has_one_root) consumer.root = group.front()->root;
    for (std::size_t index = 0; index < group.size(); ++index) {
      ConsumerStep step;
      step.cycle = cycle_of(*group[index]);
      step.call = group[index]->span;
      if (index + 1 < group.size()) measure_gap(work, {step.call.end, group[index + 1]->span.start}, step);
      consumer.waited += step.call.end - step.call.start;
      consumer.steps.push_back(step);
    }
    replace_single_gap(consumer);
    set_to_median(consumer, consumer.steps.size() - 1, consumer.steps.back());
    find_new_iterations(trace, group, consumer);
    const Picoseconds span = group.back()->span.start - group.front()->span.start;
    if (span <= 0) continue;
    consumer.rate = 1e6 * static_cast<double>(group.size() - 1) / to_microseconds(span);
    consumers.push_back(std::move(consumer));
  }
  std::stable_sort(consumers.begin(), consumers.end(),
                   [](const ConsumerCycles& a, const ConsumerCycles& b) { return a.waited > b.waited; });
  return consumers;
}

double python_share_of_gaps(const ConsumerCycles& consumer, const FunctionCosts& functions) {
  Picoseconds gaps = 0;
  std::vector<Interval> inside;
  for (std::size_t index = 0; index + 1 < consumer.steps.size(); ++index) {
    const Interval gap{consumer.steps[index].call.end, consumer.steps[index + 1].call.start};
    if (gap.start >= gap.end) continue;
    gaps += gap.end - gap.start;
    auto python = std::lower_bound(functions.python.begin(), functions.python.end(), gap.start,
                                   [](const Interval& one, Picoseconds time) { return one.end <= time; });
    for (; python != functions.python.end() && python->start < gap.end; ++python) {
      inside.push_back({std::max(python->start, gap.start), std::min(python->end, gap.end)});
    }
  }
  return gaps > 0 ? static_cast<double>(total_length(inside)) / static_cast<double>(gaps) : 0;
}

PythonLock find_python_lock(const Trace& trace, const FunctionCosts& functions, Picoseconds until) {
  constexpr double kSwitchInterval = 5000;  // us; sys.getswitchinterval()
  constexpr double kShortRest = 50;
  constexpr double kLongWait = 4000;
  constexpr double kMostlyWaited = 0.8;
  constexpr double kHardlyWaited = 0.15;
  double rest_of_functions = 0;
  double waited = 0;
  int calls = 0;
  int long_waits = 0;
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.python_calls.size(); ++index) {
      const PythonCall& call = lane.python_calls[index];
      if (call.ran_until == 0 || call.ran_until >= until) continue;
      const auto next = std::upper_bound(functions.python.begin(), functions.python.end(), call.ran_until,
                                         [](Picoseconds time, const Interval& python) { return time < python.end; });
      if (next == functions.python.end() || next->start > call.ran_until) continue;
      const double rest = to_microseconds(next->end - call.ran_until);
      if (rest <= kShortRest) continue;
      const double wait = to_microseconds(call.span.end() - call.ran_until);
      ++calls;
      long_waits += wait > kLongWait ? 1 : 0;
      rest_of_functions += std::min(rest, kSwitchInterval);
      waited += std::min({wait, rest, kSwitchInterval});
    }
  }
  const double share = rest_of_functions > 0 ? waited / rest_of_functions : 0;
  if (long_waits >= 2 || (calls >= 5 && share > kMostlyWaited)) return PythonLock::held;
  return calls >= 3 && share < kHardlyWaited && long_waits == 0 ? PythonLock::released : PythonLock::unknown;
}

}  // namespace doctor
