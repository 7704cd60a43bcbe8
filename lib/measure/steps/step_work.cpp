#include <set>

#include "measure/steps/step_table.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

using Kind = CycleItem::Kind;

/// The steps of the consumer that count, as ranges of ConsumerCycles::steps.
struct CountedSteps {
  std::vector<const ConsumerStep*> steps;
  std::size_t of_pipeline = 0;  ///< those of them that take an element of the pipeline
};

/// Steady steps of the pipeline. Where the loop takes elements of several pipelines in turn, those of the others belong
/// to its step. Where it goes over one pipeline after the other, they do not.
CountedSteps counted_steps(const ConsumerCycles& consumer, const PipelineMeasurement& pipeline) {
  const bool has_steady = pipeline.warmup_count < pipeline.calls.size();
  const Picoseconds from = has_steady ? pipeline.calls[pipeline.warmup_count].start : 0;
  std::vector<std::size_t> own;
  std::size_t followed_by_others = 0;
  for (std::size_t index = 0; index < consumer.steps.size(); ++index) {
    if (consumer.steps[index].root != pipeline.root || consumer.steps[index].call.start < from) continue;
    own.push_back(index);
    const bool is_last = index + 1 == consumer.steps.size();
    followed_by_others += !is_last && consumer.steps[index + 1].root != pipeline.root ? 1 : 0;
  }
  CountedSteps counted;
  if (own.size() < 2) return counted;
  const bool are_in_turn = 2 * followed_by_others > own.size();
  for (std::size_t index = own.front(); index < own.back(); ++index) {
    const bool is_own = consumer.steps[index].root == pipeline.root;
    const bool goes_on = is_own && consumer.steps[index + 1].root == pipeline.root;
    if (!are_in_turn && !goes_on) continue;
    counted.steps.push_back(&consumer.steps[index]);
    counted.of_pipeline += is_own ? 1 : 0;
  }
  return counted;
}

/// Adds up what the threads of the pipelines do for a step, from the consumer to the sources.
class WorkCounter {
 public:
  explicit WorkCounter(const HostMeasurement& host) : host_(host), sample_(host.cycles) {}

  StepWork count(const ConsumerCycles& consumer, const CountedSteps& counted);

 private:
  /// What the cycles of one worker add up to, each of them on average.
  struct Means {
    std::vector<StageIndex> stages;      ///< inputs first
    std::map<StageIndex, double> own;    ///< us
    std::map<StageIndex, double> pulls;  ///< elements taken of other workers
    double outside = 0;                  ///< us of GetNext outside of the iterators
  };

  Means mean_of(const std::vector<const Cycle*>& cycles, std::size_t all_cycles) const;
  void add_inputs(const Means& mean, double cycles_a_step);
  void add_worker(const Means& mean, double cycles_a_step, std::int64_t at_once, std::size_t worker);
  void add_maker(StageIndex stage, double elements_a_step);
  double consumers_of(StageIndex linked) const;
  void add_runs(StageIndex stage, double runs_a_step);
  std::int64_t number(StageIndex stage, std::string_view attribute) const {
    return host_.iterators[stage].number(attribute).value_or(0);
  }

  const HostMeasurement& host_;
  const CycleSample& sample_;
  StepWork result_;
  std::vector<bool> is_open_ = std::vector<bool>(sample_.stages.size());  ///< its elements are being counted
  std::set<IteratorId> roots_;                                            ///< of the pipelines that the steps take of
  Picoseconds from_ = 0;                                                  ///< where the steady steps begin
  std::size_t workers_ = 0;
};

/// `all_cycles`: how many of the worker the sample has.
WorkCounter::Means WorkCounter::mean_of(const std::vector<const Cycle*>& cycles, std::size_t all_cycles) const {
  Means mean;
  for (const Cycle* const cycle : cycles) {
    for (const CycleItem& item : sample_.items_of(*cycle)) {
      const double time = double{item.cpu} + double{item.wait};
      if (item.kind == Kind::pull) mean.pulls[item.stage] += 1;
      if (item.kind == Kind::outside) mean.outside += time;
      if (item.kind == Kind::work || item.kind == Kind::function) mean.own[item.stage] += time;
      const auto& known = mean.stages;
      const bool is_new = item.kind == Kind::leave && std::find(known.begin(), known.end(), item.stage) == known.end();
      if (is_new) mean.stages.push_back(item.stage);
    }
  }
  const auto count = static_cast<double>(cycles.size());
  for (auto& [stage, time] : mean.own) {
    time = time / count + sample_.stages[stage].crowded / static_cast<double>(all_cycles);
  }
  for (auto& [stage, pulls] : mean.pulls) pulls /= count;
  mean.outside /= count;
  return mean;
}

/// Replicas on several devices take their elements from one pipeline, each in a loop of its own: how many there are for
/// each of those whose steps count.
double WorkCounter::consumers_of(StageIndex linked) const {
  std::set<IteratorId> roots;
  for (StageIndex stage = 0; stage < sample_.stages.size(); ++stage) {
    if (sample_.stages[stage].link == linked) roots.insert(host_.iterators[stage].root);
  }
  const auto counted =
      std::count_if(roots.begin(), roots.end(), [&](IteratorId root) { return roots_.contains(root); });
  return counted > 0 ? static_cast<double>(roots.size()) / static_cast<double>(counted) : 1;
}

void WorkCounter::add_inputs(const Means& mean, double cycles_a_step) {
  for (const auto& [input, pulls] : mean.pulls) add_maker(input, pulls * cycles_a_step * consumers_of(input));
}

/// The stages whose calls are nested in those of one thread.
void WorkCounter::add_worker(const Means& mean, double cycles_a_step, std::int64_t at_once, std::size_t worker) {
  double before = 0;
  for (const StageIndex stage : mean.stages) {
    const auto own = mean.own.find(stage);
    const double time = own == mean.own.end() ? 0 : own->second * cycles_a_step / static_cast<double>(at_once);
    result_.stages.push_back({static_cast<IteratorId>(stage), worker, before, time, at_once});
    before += time;
  }
}

/// The functions that a parallel stage runs on other threads. Many at once share the cores, if they need them.
void WorkCounter::add_runs(StageIndex index, double runs_a_step) {
  const Stage& stage = sample_.stages[index];
  if (stage.runs == 0) return;
  const std::int64_t allowed = std::min(number(index, "parallelism"), sample_.pool_threads);
  const std::int64_t at_once = std::max({stage.runs_at_once, allowed, std::int64_t{1}});
  double cpu = 0;
  for (const FunctionCost& cost : stage.functions) cpu += cost.cpu;
  cpu /= static_cast<double>(std::max<std::size_t>(stage.functions.size(), 1));
  const double by_cores = sample_.knows_cores ? cpu / static_cast<double>(sample_.cores) : 0;
  const double time = std::max(stage.run_time / static_cast<double>(at_once), by_cores);
  result_.stages.push_back({static_cast<IteratorId>(index), workers_++, 0, time * runs_a_step, at_once});
}

/// The threads that make elements of an asynchronous stage.
void WorkCounter::add_maker(StageIndex index, double elements_a_step) {
  if (is_open_[index]) return;  // a damaged trace
  is_open_[index] = true;
  const Stage& stage = sample_.stages[index];
  std::vector<const Cycle*> cycles;
  for (const Cycle& cycle : stage.cycles) {
    if (cycle.start >= from_) cycles.push_back(&cycle);
  }
  constexpr std::size_t kFewestCycles = 3;  // a mean of fewer is that of an accident
  if (cycles.size() < kFewestCycles) {
    cycles.clear();
    for (const Cycle& cycle : stage.cycles) cycles.push_back(&cycle);
  }
  const DatasetKind& kind = host_.iterators[index].kind();
  const bool makes_batches = kind.has(Trait::parallel) && number(index, "batch_size") > 0;
  const double inputs_a_step = elements_a_step * (makes_batches ? static_cast<double>(number(index, "batch_size")) : 1);
  if (!cycles.empty()) {
    const Means mean = mean_of(cycles, stage.cycles.size());
    add_inputs(mean, inputs_a_step);
    add_worker(mean, inputs_a_step, std::max<std::int64_t>(stage.cycles_at_once, 1), workers_++);
  }
  add_runs(index, inputs_a_step);
  is_open_[index] = false;
}

StepWork WorkCounter::count(const ConsumerCycles& consumer, const CountedSteps& counted) {
  const auto steps = static_cast<double>(counted.of_pipeline);
  from_ = counted.steps.front()->call.start;
  std::vector<const Cycle*> cycles;
  double training = 0;
  for (const ConsumerStep* const step : counted.steps) {
    cycles.push_back(&step->cycle);
    roots_.insert(step->root);
    result_.step += (step->gap + to_microseconds(step->call.end - step->call.start)) / steps;
    training += (step->gap + step->beside) / steps;
  }
  const Means mean = mean_of(cycles, consumer.steps.size());
  const double calls_a_step = static_cast<double>(cycles.size()) / steps;
  const std::size_t loop = workers_++;
  add_inputs(mean, calls_a_step);
  add_worker(mean, calls_a_step, 1, loop);
  // A step that goes on during GetNext has a thread of its own.
  const bool follows_calls = !consumer.overlaps && !mean.stages.empty();
  const double before = follows_calls ? result_.stages.back().end() : 0;
  result_.stages.push_back({kNoIterator, follows_calls ? loop : workers_, before,
                            std::max(training + mean.outside * calls_a_step, consumer.device_step), 1});
  return std::move(result_);
}

}  // namespace

StepWork work_of_steps(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  for (const ConsumerCycles& consumer : host.cycles.consumers) {
    const CountedSteps counted = counted_steps(consumer, pipeline);
    if (counted.of_pipeline > 0) return WorkCounter(host).count(consumer, counted);
  }
  return {};
}

}  // namespace doctor
