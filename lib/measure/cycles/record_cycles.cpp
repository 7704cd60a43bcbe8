#include "base/ranks.h"
#include "measure/cycles/cycle_recording.h"
#include "measure/functions/function_types.h"
#include "measure/own_part.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

using Kind = CycleItem::Kind;

/// Waking the thread that runs a function, in us.
constexpr double kDispatch = 25;

/// A call has an item for its beginning and its end, and a few in between. A call that began in time may hold more
/// calls than the sample may have.
constexpr std::size_t kItemsOfARow = 8;
constexpr std::size_t kMostItems = kItemsOfARow * kRowsForAFewSteps;
/// Calls that are nested deeper belong to no real pipeline and count as work of the last one.
constexpr std::size_t kDeepest = 300;

/// Whether threads of its own make the elements that GetNext returns. A generator's function runs in its own call.
bool is_async_stage(const LogicalIterator& iterator) {
  const DatasetKind& kind = iterator.kind();
  return kind.has(Trait::async) && kind.source != Source::python && !kind.has(Trait::snapshot);
}

class CycleRecorder {
 public:
  CycleRecorder(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                const HostMeasurement& host)
      : trace_(trace),
        forest_(forest),
        op_kinds_(op_kinds),
        host_(host),
        until_(end_of_sample(trace, forest)),
        functions_(add_up_functions(trace, op_kinds, until_)) {}

  CycleSample record();

 private:
  void add_stages();
  void link_stages();
  void find_budgets();
  void find_functions_of_stages();
  void measure_load();
  void record_background(const Lane& lane);
  Cycle record_cycle(const Lane& lane, std::uint32_t row, bool is_top);
  void emit(const Lane& lane, std::uint32_t row, bool is_top, std::size_t depth);
  bool is_full() const { return sample_.items.size() > kMostItems; }
  void emit_run(const FunctionRun& run, StageIndex stage);
  void take(const Lane& lane, std::uint32_t row, StageIndex stage);
  Cycle record_call(const RootCall& call);
  void record_consumers();
  void order_functions(StageIndex stage);
  void find_made_rate();
  void go_to_run(const Lane& lane, std::size_t run) {
    next_run_ = run;
    next_run_start_ = run < lane.function_runs.size() ? lane.function_runs[run].span.start() : INT64_MAX;
  }
  void add_item(Kind kind, StageIndex stage) { sample_.items.push_back({kind, stage, 0, 0, 0, 1}); }

  const Trace& trace_;
  const IteratorForest& forest_;
  const std::vector<OpKind>& op_kinds_;
  const HostMeasurement& host_;
  const Picoseconds until_;
  FunctionCosts functions_;
  CycleSample sample_;
  std::vector<bool> is_linked_;                                ///< indexed by StageIndex: another stage links to it
  std::vector<std::vector<FunctionOfElement>> runs_of_stage_;  ///< indexed by StageIndex
  std::vector<std::vector<TakenElement>> taken_of_stage_;      ///< indexed by StageIndex
  std::vector<std::vector<double>> op_times_of_stage_;         ///< of its functions, in us; indexed by StageIndex
  std::vector<std::vector<Interval>> times_of_stage_;          ///< of its cycles; indexed by StageIndex
  std::size_t next_run_ = 0;                                   ///< of the lane that is recorded
  Picoseconds next_run_start_ = INT64_MAX;                     ///< INT64_MAX: it has no more
};

void CycleRecorder::add_stages() {
  for (const LogicalIterator& iterator : forest_.iterators) {
    Stage stage;
    if (iterator.parent != kNoIterator) stage.parent = static_cast<StageIndex>(index_of(iterator.parent));
    stage.is_async = is_async_stage(iterator);
    sample_.stages.push_back(std::move(stage));
  }
  is_linked_.resize(sample_.stages.size());
  runs_of_stage_.resize(sample_.stages.size());
  taken_of_stage_.resize(sample_.stages.size());
  op_times_of_stage_.resize(sample_.stages.size());
  times_of_stage_.resize(sample_.stages.size());
}

/// Where the waits were followed into another pipeline, elements come from there.
void CycleRecorder::link_stages() {
  for (const PipelineMeasurement& pipeline : host_.pipelines) {
    if (pipeline.fed_by.empty()) continue;
    for (const IteratorId member : pipeline.members) {
      const IteratorMeasurement& iterator = host_.iterators[member];
      const bool is_service = iterator.kind().source == Source::service;
      if (iterator.root != pipeline.root || !(iterator.is_device_hop || is_service)) continue;
      const auto root = static_cast<StageIndex>(index_of(pipeline.fed_by.front()));
      sample_.stages[index_of(member)].link = root;
      is_linked_[root] = true;
    }
  }
}

void CycleRecorder::find_budgets() {
  std::int64_t cores = 0;
  std::int64_t pool = 0;
  for (const PipelineMeasurement& pipeline : host_.pipelines) cores = std::max(cores, pipeline.cpu_budget.value_or(0));
  for (const IteratorMeasurement& iterator : host_.iterators) {
    if (iterator.parent == kNoIterator) pool = std::max(pool, iterator.number("threadpool_size").value_or(0));
  }
  // No machine has more, whatever a damaged trace says.
  constexpr std::int64_t kMostCores = 4096;
  sample_.knows_cores = cores > 0;
  if (cores == 0) cores = static_cast<std::int64_t>(std::min<std::uint64_t>(host_.compute_threads, kMostCores));
  sample_.cores = std::clamp<std::int64_t>(cores, 1, kMostCores);
  sample_.pool_threads = pool > 0 ? std::min(pool, 16 * kMostCores) : sample_.cores;
}

void CycleRecorder::find_functions_of_stages() {
  const std::vector<bool> dispatches = dispatchers(forest_);
  const ElementsOfRuns elements = elements_of_runs(trace_, until_);
  std::vector<FunctionOfElement> loose;
  for (std::size_t lane = 0; lane < trace_.lanes.size(); ++lane) {
    const std::vector<IteratorId> owners = owners_of_runs(trace_, lane, forest_, dispatches, elements[lane]);
    for (std::size_t index = 0; index < owners.size(); ++index) {
      const FunctionRun& run = trace_.lanes[lane].function_runs[index];
      if (functions_.find(run.function_id.value()) == nullptr) continue;
      const std::uint32_t made = elements[lane][index];
      const bool has_id = made != kNoRow && made >= trace_.unnamed_elements;
      const std::size_t element = has_id ? first_with_id_of(trace_.produced, made) + 1 : 0;
      const FunctionOfElement of_element{run.span.start(), run.function_id.value(), element};
      if (owners[index] == kNoIterator) {
        loose.push_back(of_element);
      } else if (sample_.stages[index_of(owners[index])].is_async && dispatches[index_of(owners[index])]) {
        runs_of_stage_[index_of(owners[index])].push_back(of_element);
      }
    }
  }
  for (std::size_t stage = 0; stage < sample_.stages.size() && !loose.empty(); ++stage) {
    const bool may_own = dispatches[stage] && sample_.stages[stage].is_async && runs_of_stage_[stage].empty();
    if (may_own) std::swap(runs_of_stage_[stage], loose);
  }
}

/// How many cores are busy on average: with own work of iterators, with functions, and with what helps these on other
/// threads.
void CycleRecorder::measure_load() {
  double own = 0;
  double helpers = 0;
  for (const Lane& lane : trace_.lanes) {
    for (std::uint32_t row = 0; row < lane.iterator_calls.size(); ++row) {
      if (lane.iterator_calls[row].span.start() >= until_) break;
      if (sample_.stages[index_of(forest_.iterator_of(lane.iterator_calls[row]))].is_async) continue;
      own += to_microseconds(own_part(lane.iterator_calls, row).time);
    }
    for (std::size_t run = 0; run < lane.function_runs.size(); ++run) {
      if (lane.function_runs[run].span.start() >= until_) break;
      if (lane.function_runs[run].row != kNoRow) own -= to_microseconds(lane.function_runs[run].span.duration());
    }
    const bool helps = lane.iterator_calls.empty() && lane.executor_spans.empty();
    for (std::size_t region = 0; helps && region < lane.pool_regions.size(); ++region) {
      if (lane.pool_regions[region].start() >= until_) break;
      helpers += to_microseconds(lane.pool_regions[region].duration());
    }
  }
  double functions = 0;
  double python = 0;
  for (const auto& [id, events] : functions_.by_id) {
    functions += events.cpu;
    python += events.python;
  }
  if (functions + python > 0) sample_.cores_per_function = 1 + helpers / (functions + python);
  sample_.window = to_microseconds(std::min(until_, trace_.window.end) - trace_.window.start);
  if (sample_.window > 0) sample_.busy_cores = (std::max(0.0, own) + functions + helpers) / sample_.window;
}

void CycleRecorder::emit_run(const FunctionRun& run, StageIndex stage) {
  const double duration = to_microseconds(run.span.duration());
  const FunctionEvents* const events = functions_.find(run.function_id.value());
  if (events == nullptr) {
    sample_.items.push_back({Kind::work, stage, static_cast<float>(duration), 0, static_cast<float>(kEventCost), 1});
    return;
  }
  const double cpu = std::min(events->cpu, duration);
  double wait = duration - cpu;
  // On a full machine the remainder was mostly waiting for a core, which a replay does by itself.
  if (sample_.cores_are_full()) wait = std::min(wait, events->python + kDispatch * events->spans);
  const double cores = duration > 0 ? std::max(1.0, events->cpu / duration) : 1;
  sample_.items.push_back({Kind::function, stage, static_cast<float>(cpu), static_cast<float>(wait),
                           static_cast<float>(kEventCost * events->events),
                           static_cast<float>(cores * sample_.cores_per_function)});
  Stage& of = sample_.stages[stage];
  of.crowded += duration - cpu - wait;
  of.python += events->python;
  of.function_cpu += events->cpu;
  op_times_of_stage_[stage].push_back(events->op_time);
}

/// Remembers which element a call takes.
void CycleRecorder::take(const Lane& lane, std::uint32_t row, StageIndex stage) {
  const PackedSpan span = lane.iterator_calls[row].span;
  const std::size_t index =
      lane.consumed.partition_point(0, [&](const ConsumedElement& element) { return element.row < row; });
  const bool is_known = index < lane.consumed.size() && lane.consumed[index].row == row;
  if (!is_known) return;
  const std::uint32_t element = lane.consumed[index].element;
  taken_of_stage_[stage].push_back({span.start(), span.end(), element == kNoRow ? 0 : std::size_t{element} + 1});
}

/// What a call does, and the calls nested in it on this thread.
void CycleRecorder::emit(const Lane& lane, std::uint32_t row, bool is_top, std::size_t depth) {
  if (is_full()) return;
  const IteratorCall& call = lane.iterator_calls[row];
  const auto stage = static_cast<StageIndex>(index_of(forest_.iterator_of(call)));
  if (!is_top && sample_.stages[stage].link != kNoStage) return add_item(Kind::pull, sample_.stages[stage].link);
  if (!is_top && sample_.stages[stage].is_async) {
    add_item(Kind::pull, stage);
    return take(lane, row, stage);
  }
  add_item(Kind::enter, stage);
  double events = 0.5;  // half of what recording an event takes falls outside of it, into its parent
  Picoseconds done = call.span.start();
  const auto add_own_work = [&](Picoseconds end) {
    if (end <= done) return;
    sample_.items.push_back({Kind::work, stage, static_cast<float>(to_microseconds(end - done)), 0,
                             static_cast<float>(kEventCost * std::exchange(events, 0)), 1});
    done = end;
  };
  const auto add_runs = [&](Picoseconds end) {
    for (; next_run_start_ < end; go_to_run(lane, next_run_ + 1)) {
      const FunctionRun& run = lane.function_runs[next_run_];
      if (run.row != row || run.span.end() <= done) continue;
      add_own_work(run.span.start());
      emit_run(run, stage);
      events += 1;
      done = std::max(done, run.span.end());
    }
  };
  const std::uint32_t end_of_nested = depth < kDeepest ? lane.iterator_calls.subtree_end(row, call) : row + 1;
  for (std::uint32_t next = row + 1; next < end_of_nested; next = lane.iterator_calls.subtree_end(next)) {
    const PackedSpan nested = lane.iterator_calls[next].span;
    add_runs(nested.start());
    add_own_work(nested.start());
    emit(lane, next, false, depth + 1);
    events += 0.5;
    done = std::max(done, nested.end());
  }
  add_runs(call.span.end());
  add_own_work(call.span.end());
  add_item(Kind::leave, stage);
}

Cycle CycleRecorder::record_cycle(const Lane& lane, std::uint32_t row, bool is_top) {
  Cycle cycle;
  cycle.start = lane.iterator_calls[row].span.start();
  cycle.first = static_cast<std::uint32_t>(sample_.items.size());
  go_to_run(lane, lane.function_runs.partition_point(
                      0, [&](const FunctionRun& run) { return run.span.start() < cycle.start; }));
  emit(lane, row, is_top, 0);
  cycle.end = static_cast<std::uint32_t>(sample_.items.size());
  return cycle;
}

/// Threads that make elements: each of their outermost calls is one, of an iterator below an asynchronous one. Calls
/// that the window cuts are nested in none, and left out.
void CycleRecorder::record_background(const Lane& lane) {
  std::size_t get_next = 0;
  for (std::uint32_t row = 0; row < lane.iterator_calls.size(); row = lane.iterator_calls.subtree_end(row)) {
    if (lane.iterator_calls[row].span.start() >= until_) break;
    while (get_next < lane.get_next_calls.size() && lane.get_next_calls[get_next].end_row <= row) ++get_next;
    const bool in_get_next = get_next < lane.get_next_calls.size() && lane.get_next_calls[get_next].first_row <= row;
    const auto stage = static_cast<StageIndex>(index_of(forest_.iterator_of(lane.iterator_calls[row])));
    const StageIndex parent = sample_.stages[stage].parent;
    const PackedSpan span = lane.iterator_calls[row].span;
    if (is_linked_[stage]) {
      sample_.stages[stage].cycles.push_back(record_cycle(lane, row, true));
      times_of_stage_[stage].push_back({span.start(), span.end()});
    } else if (!in_get_next && parent != kNoStage && sample_.stages[parent].is_async) {
      sample_.stages[parent].cycles.push_back(record_cycle(lane, row, false));
      times_of_stage_[parent].push_back({span.start(), span.end()});
    }
  }
}

void CycleRecorder::order_functions(StageIndex stage) {
  Stage& of = sample_.stages[stage];
  const std::vector<FunctionOfElement>& runs = runs_of_stage_[stage];
  const std::int64_t at_once = host_.iterators[stage].number("parallelism").value_or(0);
  // Of more calls than there are threads, some wait for those before them, which a replay does by itself.
  const bool waits_for_others = sample_.cores_are_full() || at_once <= 0 || at_once > sample_.pool_threads;
  const bool makes_batches = forest_.iterators[stage].has(Trait::fused_batch);
  of.functions = costs_in_order(runs, makes_batches ? std::vector<TakenElement>() : taken_of_stage_[stage], functions_);
  const double calling = waits_for_others ? 0 : calling_time(runs, functions_);
  for (FunctionCost& cost : of.functions) cost.calling = static_cast<float>(calling);
  const std::vector<Interval> times = times_of_runs(runs, functions_);
  of.runs = static_cast<std::int64_t>(times.size());
  of.runs_at_once = usually_at_once(times);
  for (const Interval& time : times) of.run_time += to_microseconds(time.end - time.start);
  if (of.runs > 0) of.run_time /= static_cast<double>(of.runs);
  for (const FunctionOfElement& run : runs) {
    op_times_of_stage_[stage].push_back(functions_.find(run.function_id)->op_time);
  }
  if (const std::int64_t most = most_elements_in_work(runs, taken_of_stage_[stage]); most > 0)
    of.elements_in_work = most;
}

/// The GetNext call of a consumer.
Cycle CycleRecorder::record_call(const RootCall& call) {
  const Lane& lane = trace_.lanes[call.lane];
  Cycle cycle;
  cycle.start = call.span.start;
  cycle.first = static_cast<std::uint32_t>(sample_.items.size());
  Picoseconds done = call.span.start;
  const auto add_outside = [&](Picoseconds end) {
    if (end <= done) return;
    sample_.items.push_back({Kind::outside, kNoStage, 0, static_cast<float>(to_microseconds(end - done)), 0, 1});
    done = end;
  };
  for (std::uint32_t row = call.first_row; row < call.end_row; row = lane.iterator_calls.subtree_end(row)) {
    add_outside(lane.iterator_calls[row].span.start());
    record_cycle(lane, row, false);
    done = std::max(done, lane.iterator_calls[row].span.end());
  }
  add_outside(call.span.end);
  cycle.end = static_cast<std::uint32_t>(sample_.items.size());
  return cycle;
}

void CycleRecorder::record_consumers() {
  std::vector<const RootCall*> calls;
  bool is_cut_off = false;
  for (const RootCall& call : forest_.root_calls) {
    is_cut_off = call.span.start >= until_;
    if (is_cut_off) break;
    if (call.root != kNoIterator && !is_linked_[index_of(call.root)]) calls.push_back(&call);
  }
  sample_.has_too_many_events = is_cut_off && calls.size() < 2;
  sample_.consumers = consumers_of(trace_, functions_, op_kinds_, calls, host_.device_profile,
                                   [&](const RootCall& call) { return record_call(call); });
  if (!sample_.consumers.empty()) {
    sample_.python_lock = find_python_lock(trace_, functions_, until_);
    sample_.python_beside_consumer = python_share_of_gaps(sample_.consumers.front(), functions_);
  }
}

/// The prefetch at the end of a pipeline may make fewer elements than the consumer takes while it has a full buffer.
void CycleRecorder::find_made_rate() {
  for (ConsumerCycles& consumer : sample_.consumers) {
    for (std::size_t index = 0; index < sample_.stages.size() && consumer.root != kNoIterator; ++index) {
      const Stage& stage = sample_.stages[index];
      const bool is_at_end = stage.parent != kNoStage && sample_.stages[stage.parent].parent == kNoStage &&
                             forest_.iterators[index].has(Trait::prefetch) &&
                             forest_.iterators[index].root == consumer.root;
      if (!is_at_end || stage.cycles.size() < 2) continue;
      const Picoseconds span = stage.cycles.back().start - stage.cycles.front().start;
      const double rate = span > 0 ? 1e6 * static_cast<double>(stage.cycles.size() - 1) / to_microseconds(span) : 0;
      if (rate > 0 && rate < consumer.rate) consumer.made_rate = rate;
    }
  }
}

CycleSample CycleRecorder::record() {
  if (!trace_.lanes_are_threads) return sample_;
  add_stages();
  link_stages();
  find_budgets();
  find_functions_of_stages();
  measure_load();
  sample_.items.reserve(kItemsOfARow * kMostSampleRows);  // most samples have no more
  for (const Lane& lane : trace_.lanes) record_background(lane);
  for (Stage& stage : sample_.stages) std::ranges::stable_sort(stage.cycles, {}, &Cycle::start);
  record_consumers();
  if (is_full()) {
    sample_ = {};
    sample_.has_too_many_events = true;
  }
  for (StageIndex stage = 0; stage < sample_.stages.size(); ++stage) {
    sample_.stages[stage].cycles_at_once = usually_at_once(times_of_stage_[stage]);
    if (!runs_of_stage_[stage].empty()) order_functions(stage);
    if (!op_times_of_stage_[stage].empty()) sample_.stages[stage].op_time = median(op_times_of_stage_[stage]);
  }
  find_made_rate();
  return std::move(sample_);
}

}  // namespace

CycleSample record_cycles(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                          const HostMeasurement& host) {
  return CycleRecorder(trace, forest, op_kinds, host).record();
}

}  // namespace doctor
