#include <iterator>

#include "base/intervals.h"
#include "base/merge.h"
#include "base/ranks.h"
#include "measure/cycles/cycle_recording.h"

namespace doctor {
namespace {

/// How many of some threads are at work, added up from the beginning: answers for any piece of time in one search.
class BusyTime {
 public:
  /// `of_lanes`: for each thread when it is at work.
  explicit BusyTime(const std::vector<std::vector<Interval>>& of_lanes) {
    std::size_t count = 0;
    for (const std::vector<Interval>& lane : of_lanes) count += lane.size();
    std::vector<std::pair<Picoseconds, int>> changes;
    changes.reserve(2 * count);
    for (const std::vector<Interval>& lane : of_lanes) {
      for (const Interval& time : lane) {
        changes.emplace_back(time.start, 1);
        changes.emplace_back(time.end, -1);
      }
    }
    sort_unless_sorted(changes, std::less<>());
    moments_.reserve(changes.size());
    int at_work = 0;
    for (const auto& [time, change] : changes) {
      const double since = moments_.empty() ? 0 : to_microseconds(time - moments_.back().time);
      const double before = moments_.empty() ? 0 : moments_.back().before;
      at_work += change;
      moments_.push_back({time, before + since * (at_work - change), at_work});
    }
  }

  /// Thread time in us.
  double in(Interval span) const { return until(span.end) - until(span.start); }

 private:
  struct Moment {
    Picoseconds time = 0;
    double before = 0;  ///< thread time until then
    int at_work = 0;    ///< threads from then on
  };

  double until(Picoseconds time) const {
    const auto next = std::upper_bound(moments_.begin(), moments_.end(), time,
                                       [](Picoseconds wanted, const Moment& moment) { return wanted < moment.time; });
    if (next == moments_.begin()) return 0;
    const Moment& last = *std::prev(next);
    return last.before + to_microseconds(time - last.time) * last.at_work;
  }

  std::vector<Moment> moments_;  ///< sorted
};

/// Whether what a thread runs without events of ops is XLA's: its pools, and where it runs programs on other threads.
bool runs_programs(std::string_view thread) {
  return !is_compute_pool(thread) || thread.find("XLA") != std::string_view::npos;
}

/// What is not the input's, for each thread: sorted, disjoint intervals.
struct OtherWork {
  /// Ops, the executor's spans of other functions, and programs of XLA. Python that a step calls is left out: it mostly
  /// waits there, for a device, a server or the interpreter's lock.
  std::vector<std::vector<Interval>> on_cores;
  /// Python included: a step lasts that long, whatever it waits for. Only on demand.
  std::vector<std::vector<Interval>> in_steps;
};

OtherWork find_other_work(const Trace& trace, const FunctionCosts& functions, const std::vector<OpKind>& op_kinds,
                          Interval window, bool wants_steps) {
  OtherWork found;
  for (const Lane& lane : trace.lanes) {
    const std::string_view thread = trace.strings[lane.name];
    if (thread.find("tf_data") != std::string_view::npos) continue;
    std::vector<Interval> times;
    std::vector<Interval> python;
    const auto add = [&](PackedSpan span, std::vector<Interval>& to) {
      if (span.end() > window.start && span.start() < window.end) to.push_back({span.start(), span.end()});
    };
    for (std::size_t op = 0; op < lane.ops.size() && lane.ops[op].span.start() < window.end; ++op) {
      const OpKind kind = op_kinds[index_of(lane.ops[op].type)];
      if (kind == OpKind::wrapper || functions.by_id.contains(lane.ops[op].function_id.value())) continue;
      add(lane.ops[op].span, kind == OpKind::python ? python : times);
    }
    for (std::size_t span = 0; span < lane.executor_spans.size(); ++span) {
      const ExecutorSpan& executor = lane.executor_spans[span];
      if (!functions.by_id.contains(executor.function_id.value())) add(executor.span, times);
    }
    for (std::size_t region = 0; runs_programs(thread) && region < lane.pool_regions.size(); ++region) {
      add(lane.pool_regions[region], times);
    }
    if (wants_steps) {
      std::vector<Interval> in_steps = times;
      in_steps.insert(in_steps.end(), python.begin(), python.end());
      found.in_steps.push_back(merged(std::move(in_steps)));
    }
    if (times.empty()) continue;
    times = merged(std::move(times));
    if (!python.empty()) times = intersected(times, gaps_in(window, merged(std::move(python))));
    found.on_cores.push_back(std::move(times));
  }
  return found;
}

/// The same of all threads together: when any of them works.
std::vector<std::vector<Interval>> union_of(const std::vector<std::vector<Interval>>& of_lanes) {
  std::vector<Interval> all;
  for (const std::vector<Interval>& lane : of_lanes) all.insert(all.end(), lane.begin(), lane.end());
  return {merged(std::move(all))};
}

/// Sets how long a gap is, and how much of it is work of this host.
void measure_gap(const BusyTime& of_threads, const BusyTime& of_any, Interval gap, ConsumerStep& step) {
  if (gap.start >= gap.end) return;
  step.gap = to_microseconds(gap.end - gap.start);
  step.busy = of_any.in(gap);
  step.core_time = of_threads.in(gap);
}

/// Sets the gap of a step to the median of other steps; of none it stays.
void set_to_median(const ConsumerCycles& consumer, const std::vector<std::size_t>& others, ConsumerStep& step) {
  if (others.empty()) return;
  const auto median_of = [&](double ConsumerStep::*member) {
    std::vector<double> values;
    values.reserve(others.size());
    for (const std::size_t index : others) values.push_back(consumer.steps[index].*member);
    return median(values);
  };
  step.gap = median_of(&ConsumerStep::gap);
  step.remaking = median_of(&ConsumerStep::remaking);
  step.late = median_of(&ConsumerStep::late);
  step.busy = median_of(&ConsumerStep::busy);
  step.core_time = median_of(&ConsumerStep::core_time);
  step.device = median_of(&ConsumerStep::device);
  step.launching = median_of(&ConsumerStep::launching);
}

/// The steps before the last one whose gap is one between two iterations of the pipeline, or is not.
std::vector<std::size_t> steps_with_gap(const ConsumerCycles& consumer, bool is_between_iterations) {
  std::vector<std::size_t> steps;
  steps.reserve(consumer.steps.size());
  for (std::size_t index = 0; index + 1 < consumer.steps.size(); ++index) {
    if (consumer.steps[index + 1].begins_iteration == is_between_iterations) steps.push_back(index);
  }
  return steps;
}

/// After the last step a replay goes on with the first one: with a new iteration, where there are several.
void set_last_gap(ConsumerCycles& consumer) {
  const std::vector<std::size_t> between = steps_with_gap(consumer, true);
  set_to_median(consumer, between.empty() ? steps_with_gap(consumer, false) : between, consumer.steps.back());
}

/// A checkpoint, an evaluation, or the profiler itself: one gap that is much longer than all others.
void replace_single_gap(ConsumerCycles& consumer) {
  constexpr std::size_t kFewestSteps = 5;  // of fewer, one that is longer may be the usual
  constexpr double kMuchLonger = 3;        // times the next longest. Chosen: steps differ by less
  const std::vector<std::size_t> steps = steps_with_gap(consumer, false);
  if (steps.size() + 1 < kFewestSteps) return;
  std::size_t longest = steps.front();
  double next_longest = 0;
  for (const std::size_t step : steps) {
    if (consumer.steps[step].gap > consumer.steps[longest].gap) longest = step;
  }
  for (const std::size_t step : steps) {
    if (step != longest) next_longest = std::max(next_longest, consumer.steps[step].gap);
  }
  if (consumer.steps[longest].gap > kMuchLonger * next_longest) {
    set_to_median(consumer, steps, consumer.steps[longest]);
  }
}

/// A consumer for each thread that takes elements; where its calls overlap, for each pipeline.
std::vector<std::vector<const RootCall*>> group_calls(const std::vector<const RootCall*>& calls) {
  constexpr double kMostOverlaps = 0.1;  // of the calls: a few overlap where threads hand over
  std::size_t overlaps = 0;
  for (std::size_t index = 1; index < calls.size(); ++index) {
    if (calls[index]->span.start < calls[index - 1]->span.end) ++overlaps;
  }
  if (static_cast<double>(overlaps) <= kMostOverlaps * static_cast<double>(calls.size())) return {calls};
  std::map<IteratorId, std::vector<const RootCall*>> by_root;
  for (const RootCall* call : calls) by_root[call->root].push_back(call);
  std::vector<std::vector<const RootCall*>> groups;
  groups.reserve(by_root.size());
  for (auto& [root, group] : by_root) groups.push_back(std::move(group));
  return groups;
}

InstanceId instance_of(const Trace& trace, const RootCall& call) {
  return call.has_rows() ? call_of(trace, call.first()).instance : kNoInstance;
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

/// How much of the gap before each new iteration the consumer spends on making it, and on letting go of the last one:
/// the longest release in the gap. `iterator = iter(dataset)` lets go of the last one after it has made the next one.
void find_remaking(const Trace& trace, const std::vector<const RootCall*>& calls, ConsumerCycles& consumer) {
  for (std::size_t index = 0; index + 1 < calls.size(); ++index) {
    const RootCall& next = *calls[index + 1];
    const Interval gap = {calls[index]->span.end, next.span.start};
    if (!consumer.steps[index + 1].begins_iteration || gap.start >= gap.end) continue;
    const std::uint32_t making = trace.instances[instance_of(trace, next)].making;
    if (making == kNoMaking) continue;
    const Interval made = trace.makings[making].span;
    if (made.start < gap.start || made.end > gap.end) continue;
    Picoseconds releasing = 0;
    auto release = std::lower_bound(trace.releases.begin(), trace.releases.end(), gap.start,
                                    [](const LongRelease& at, Picoseconds start) { return at.span.start < start; });
    for (; release != trace.releases.end() && release->span.end <= gap.end; ++release) {
      if (release->lane == next.lane) releasing = std::max(releasing, release->span.end - release->span.start);
    }
    consumer.steps[index].remaking = to_microseconds(made.end - made.start + releasing);
  }
}

/// What passes from the beginning of Python's call to GetNext, and from its end to the return to Python, in us.
struct AroundCall {
  double before = 0;
  double after = 0;
};

/// nullopt where no call of Python is seen around it.
std::optional<AroundCall> time_around(const Trace& trace, const RootCall& call) {
  const auto& python = trace.lanes[call.lane].python_calls;
  const std::size_t next =
      python.partition_point(0, [&](const PythonCall& at) { return at.span.start() <= call.span.start; });
  if (next == 0) return std::nullopt;
  const PackedSpan around = python[next - 1].span;
  if (around.end() < call.span.end) return std::nullopt;
  return AroundCall{to_microseconds(call.span.start - around.start()), to_microseconds(around.end() - call.span.end)};
}

/// Between GetNext and Python's call of it next to nothing runs. What passes there beyond the usual, the thread waits
/// for a core, or for Python's lock.
void find_late_returns(const Trace& trace, const std::vector<const RootCall*>& calls, ConsumerCycles& consumer) {
  std::vector<std::optional<AroundCall>> around;
  std::vector<double> before;
  std::vector<double> after;
  around.reserve(calls.size());
  before.reserve(calls.size());
  after.reserve(calls.size());
  for (const RootCall* call : calls) {
    around.push_back(time_around(trace, *call));
    if (!around.back()) continue;
    before.push_back(around.back()->before);
    after.push_back(around.back()->after);
  }
  if (before.empty()) return;
  const double usual_before = median(before);
  const double usual_after = median(after);
  for (std::size_t index = 0; index + 1 < calls.size(); ++index) {
    double late = 0;
    if (around[index]) late += std::max(0.0, around[index]->after - usual_after);
    if (around[index + 1]) late += std::max(0.0, around[index + 1]->before - usual_before);
    consumer.steps[index].late = std::min(late, consumer.steps[index].gap);
  }
}

/// Whether a call of GetNext is not made by the thread that runs the step.
bool runs_on_own_thread(const Trace& trace, const RootCall& call) {
  return trace.strings[trace.lanes[call.lane].name].find("tf_data") != std::string_view::npos;
}

/// Whether steps go on during the calls of GetNext after them: in most calls, for a good part of the time.
bool does_overlap(const ConsumerCycles& consumer) {
  constexpr double kGoodPart = 0.1;  // of the waits. Chosen: less changes no rate by more than rates differ
  double beside = 0;
  std::size_t calls = 0;
  for (const ConsumerStep& step : consumer.steps) {
    beside += step.beside;
    if (step.beside > 0) ++calls;
  }
  return beside > kGoodPart * to_microseconds(consumer.waited) && 2 * calls > consumer.steps.size();
}

}  // namespace

std::vector<ConsumerCycles> consumers_of(const Trace& trace, const FunctionCosts& functions,
                                         const std::vector<OpKind>& op_kinds, const std::vector<const RootCall*>& calls,
                                         const DeviceProfile& devices,
                                         const std::function<Cycle(const RootCall&)>& cycle_of) {
  std::vector<ConsumerCycles> consumers;
  if (calls.size() < 2) return consumers;
  const bool has_own_thread =
      std::any_of(calls.begin(), calls.end(), [&](const RootCall* call) { return runs_on_own_thread(trace, *call); });
  const OtherWork work =
      find_other_work(trace, functions, op_kinds, {calls.front()->span.start, calls.back()->span.end}, has_own_thread);
  const BusyTime of_threads(work.on_cores);
  const BusyTime of_any(union_of(work.on_cores));
  const BusyTime of_steps(union_of(work.in_steps));
  for (const std::vector<const RootCall*>& group : group_calls(calls)) {
    if (group.size() < 2) continue;
    ConsumerCycles consumer;
    const bool has_one_root = std::all_of(group.begin(), group.end(),
                                          [&](const RootCall* call) { return call->root == group.front()->root; });
    if (has_one_root) consumer.root = group.front()->root;
    consumer.steps.reserve(group.size());
    for (std::size_t index = 0; index < group.size(); ++index) {
      ConsumerStep step;
      step.cycle = cycle_of(*group[index]);
      step.call = group[index]->span;
      step.root = group[index]->root;
      if (index + 1 < group.size())
        measure_gap(of_threads, of_any, {step.call.end, group[index + 1]->span.start}, step);
      if (runs_on_own_thread(trace, *group[index])) step.beside = of_steps.in(step.call);
      consumer.waited += step.call.end - step.call.start;
      consumer.steps.push_back(step);
    }
    consumer.overlaps = does_overlap(consumer);
    find_new_iterations(trace, group, consumer);
    find_remaking(trace, group, consumer);
    find_late_returns(trace, group, consumer);
    if (group.size() == calls.size()) find_device_time(devices, consumer);
    replace_single_gap(consumer);
    set_last_gap(consumer);
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
  constexpr double kShortRest = 50;         // us of a function that needs no lock after its Python: it returns at once
  constexpr double kLongWait = 4000;        // us: most of an interval after which CPython takes the lock away
  constexpr double kMostlyWaited = 0.8;     // of the calls: the lock was held by others
  constexpr double kHardlyWaited = 0.15;    // of the calls: the lock was free. Between the two it is not known
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
