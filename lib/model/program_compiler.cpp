#include "model/program_compiler.h"

#include <algorithm>
#include <utility>

#include "model/interleaving.h"
#include "model/sampled_work.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// The jobs of a filter whose predicate a parallel map computes: of one element at a time, whether the filter keeps it
/// or not, while a call of the filter computes those of all until it keeps one.
void spread_evenly(std::vector<Job>& jobs) {
  double cpu = 0;
  double python = 0;
  for (const Job& job : jobs) {
    cpu += job.cpu;
    python += job.python;
  }
  const auto count = static_cast<double>(jobs.size());
  for (Job& job : jobs) job = {static_cast<float>(cpu / count), static_cast<float>(python / count), job.calling};
}

}  // namespace

std::vector<StageIndex> WorkTally::in_order() const {
  std::vector<StageIndex> stages = stages_;
  std::sort(stages.begin(), stages.end());
  stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  return stages;
}

StageIndex WorkTally::busiest() const {
  StageIndex busiest = kNoStage;
  double most = 0;
  for (const StageIndex stage : in_order()) {
    if (times_[stage] <= most) continue;
    most = times_[stage];
    busiest = stage;
  }
  return busiest;
}

double WorkTally::sum() const {
  double sum = 0;
  for (const StageIndex stage : in_order()) sum += times_[stage];
  return sum;
}

void ProgramCompiler::treat(StageIndex stage) {
  Treatment& treatment = treatments_[stage];
  treatment.is_free = edit_.free.contains(stage);
  treatment.is_cache = edit_.cached.contains(stage);
  StageIndex above = stage;
  for (std::size_t steps = 0; above != kNoStage && steps <= sample_.stages.size() && !edit_.cached.empty(); ++steps) {
    treatment.is_cached = treatment.is_cached || edit_.cached.contains(above);
    above = sample_.stages[above].parent;
  }
  if (const auto found = edit_.vectorized.find(stage); found != edit_.vectorized.end()) {
    treatment.vectorized = found->second;
  }
  if (const auto found = edit_.work_factor.find(stage); found != edit_.work_factor.end()) {
    treatment.factor = found->second;
  }
  if (const auto found = edit_.cuts.find(stage); found != edit_.cuts.end()) treatment.cut = &found->second;
  treatment.only_waits = iterator(stage).has(Trait::sleep);
  treatment.changes_cost =
      treatment.is_free || treatment.vectorized > 0 || treatment.factor != 1 || treatment.only_waits;
}

/// What the edit does away with: a share of all work; of full caches also work of the stages above them, and a share of
/// what their pipelines do.
void ProgramCompiler::find_spared_work() {
  if (edit_.cached.empty() && edit_.free.empty() && edit_.work_factor.empty()) return;
  std::set<StageIndex> above;
  for (const StageIndex cached : edit_.cached) {
    StageIndex next = sample_.stages[cached].parent;
    while (next != kNoStage && above.insert(next).second) next = sample_.stages[next].parent;
  }
  for (const auto& [stage, usual] : usual_work(sample_, above)) {
    treatments_[stage].most_work = kMostOfUsualWork * usual;
    treatments_[stage].changes_cost = true;
  }
  const std::vector<double>& work = facts_.work;
  std::map<IteratorId, double> all;
  double sum = 0;
  double spared = 0;
  for (StageIndex stage = 0; stage < work.size(); ++stage) {
    const Treatment& treatment = treatments_[stage];
    const bool is_spared = treatment.is_cached || treatment.is_free;
    sum += work[stage];
    spared += work[stage] * (is_spared ? 1 : std::max(0.0, 1 - treatment.factor));
    all[facts_.pipeline_of[stage]] += work[stage];
    if (treatment.is_cached) cached_shares_[facts_.pipeline_of[stage]] += work[stage];
  }
  if (sum > 0) spared_share_ = spared / sum;
  for (auto& [pipeline, cached] : cached_shares_) cached = all[pipeline] > 0 ? cached / all[pipeline] : 0;
}

std::vector<Job> ProgramCompiler::jobs_of(StageIndex stage) const {
  const Stage& of = sample_.stages[stage];
  const Treatment& treatment = treatments_[stage];
  std::vector<Job> jobs;
  jobs.reserve(of.functions.size());
  const auto add = [&](double cpu, double python, float calling) {
    if (treatment.is_free) {
      cpu = std::min(cpu, kFreeFunction);
      python = 0;
    } else {
      cpu *= treatment.factor;
      python *= treatment.factor;
    }
    jobs.push_back({static_cast<float>(cpu), static_cast<float>(python), treatment.is_free ? 0 : calling});
  };
  for (const FunctionCost& cost : of.functions) {
    if (treatment.vectorized > 0) {
      const double python = std::min(double{cost.python}, of.op_time);
      const double around_ops = (cost.cpu + cost.python) / treatment.vectorized;
      add(around_ops + of.op_time - python, python, cost.calling / static_cast<float>(treatment.vectorized));
      continue;
    }
    const double cpu = is_traced_ ? cost.cpu : std::max(kLeastOfWork * cost.cpu, double{cost.cpu} - cost.tracing);
    add(cpu, cost.python, cost.calling);
  }
  return jobs;
}

/// Whether an iterator is made in the sample: for each iteration, or for the only one, in whose first call the consumer
/// waits while its first element is made. In a pipeline that goes on, that one is made when the call ends.
bool ProgramCompiler::begins_in_sample(StageIndex prefetch) const {
  if (facts_.iteration_starts.contains(facts_.pipeline_of[prefetch])) return true;
  const ConsumerCycles& consumer = sample_.consumers.front();
  const std::vector<Cycle>& made = sample_.stages[prefetch].cycles;
  if (made.empty() || consumer.root != facts_.pipeline_of[prefetch]) return false;
  const Interval first = consumer.steps.front().call;
  return made.front().start >= first.start && made.front().start < first.start + (first.end - first.start) / 2;
}

void ProgramCompiler::set_interleaving(StageIndex stage, std::int64_t threads, std::int64_t cycle_length,
                                       Producer& producer) const {
  const MadeAhead ahead = made_ahead(host_, static_cast<IteratorId>(stage), cycle_length);
  producer.threads = std::min(threads, cycle_length);
  producer.limit = cycle_length * ahead.of_dataset;
  producer.share_made_beside = ahead.share;
  producer.most_made_beside = ahead.datasets;
}

/// The first element of a dataset waits for it to be opened: for a file, or for the network. A parallel interleave
/// opens the datasets ahead of their turn, on threads beside those that make elements, so that these share the waits. A
/// function waits on a thread of the pool: more threads than it has open nothing sooner.
void ProgramCompiler::spread_openings(const Producer& producer) {
  constexpr double kOpening = 4;  // times the mean: an element that costs as much begins a dataset
  const auto cost_of = [&](const Program& program) {
    double cost = 0;
    for (std::uint32_t index = program.first; index < program.end; ++index) {
      const Action& action = programs_.actions[index];
      if (action.pull == kNoStage) cost += action.cpu + action.wait;
    }
    return cost;
  };
  double all = 0;
  for (const Program& program : producer.programs) all += cost_of(program);
  const double limit = kOpening * all / static_cast<double>(producer.programs.size());
  const std::int64_t opening = producer.threads + producer.most_made_beside;
  const std::int64_t running = std::max(producer.threads, std::min(opening, programs_.pool_threads));
  const auto share_of = [&](std::int64_t threads) {
    return static_cast<float>(producer.threads) / static_cast<float>(threads);
  };
  for (const Program& program : producer.programs) {
    if (limit <= 0 || cost_of(program) < limit) continue;
    for (std::uint32_t index = program.first; index < program.end; ++index) {
      Action& action = programs_.actions[index];
      action.wait *= share_of(action.holds_pool_thread ? running : opening);
    }
  }
}

void ProgramCompiler::set_parallelism(StageIndex stage, Producer& producer) const {
  const DatasetKind& kind = iterator(stage).kind();
  std::int64_t parallelism = number(stage, "parallelism").value_or(0);
  if (parallelism <= 0) parallelism = sample_.stages[stage].elements_in_work.value_or(sample_.cores);
  // AUTOTUNE comes to as many calls as the pool has threads.
  if (edit_.pool_threads && is_autotuned(iterator(stage)) == true)
    parallelism = std::max(parallelism, *edit_.pool_threads);
  if (const auto set = edit_.parallelism.find(stage); set != edit_.parallelism.end()) parallelism = set->second;
  parallelism = std::clamp<std::int64_t>(parallelism, 1, kMostAtOnce);
  if (kind.has(Trait::makes_datasets)) {
    std::int64_t cycle = number(stage, "cycle_length").value_or(0);
    cycle = cycle <= 0 ? parallelism : std::min(cycle, kMostAtOnce);
    // A change of the one is a change of the other.
    if (edit_.parallelism.contains(stage)) cycle = std::max(cycle, parallelism);
    set_interleaving(stage, parallelism, cycle, producer);
  } else if (kind.has(Trait::parallel)) {
    producer.kind = Producer::Kind::dispatcher;
    producer.parallelism = producer.limit = parallelism;
    if (kind.has(Trait::fused_batch)) {
      producer.batch = std::clamp<std::int64_t>(number(stage, "batch_size").value_or(1), 1, kMostAtOnce);
      constexpr std::int64_t kMostBatches = 16;  // Source: kMaxBatchResults of MapAndBatchDataset
      // No fewer than its calls fill, which a damaged trace may say are very many.
      const std::int64_t least = (parallelism + producer.batch - 1) / producer.batch;
      const std::int64_t most = std::max(kMostBatches, least);
      const std::int64_t batches = std::clamp(number(stage, "max_batch_results").value_or(2), least, most);
      producer.limit = std::max(parallelism, batches * producer.batch);
      producer.largest_limit = most * producer.batch;
    }
    producer.jobs = jobs_of(stage);
  } else if (iterator(stage).has(Trait::prefetch)) {
    constexpr std::int64_t kNoLimit = 1'000'000;  // larger ones are marks of "as many as it likes"
    const std::int64_t limit = number(stage, "buffer_limit").value_or(0);
    producer.limit = limit > 0 && limit < kNoLimit ? limit : 2;
    if (const auto set = edit_.buffer.find(stage); set != edit_.buffer.end()) {
      producer.limit = set->second;
    } else if (is_autotuned(iterator(stage)) == true && begins_in_sample(stage) &&
               (!edit_.iterates_once || is_repeated(facts_.pipeline_of[stage]))) {
      producer.largest_limit = std::exchange(producer.limit, 1);
    }
  }
}

/// Whether the programs of a stage's threads are those without the edit: it changes no stage that they go through.
bool ProgramCompiler::is_unchanged(StageIndex stage) const {
  if (unchanged_ == nullptr) return false;
  const auto before = unchanged_->producers.find(stage);
  const std::size_t count = sample_.stages[stage].cycles.size();
  if (count == 0 || before == unchanged_->producers.end() || before->second.programs.size() != count) return false;
  const std::vector<StageIndex>& stages = facts_.stages_of_cycles[stage];
  return std::none_of(stages.begin(), stages.end(), [&](StageIndex met) { return treatments_[met].changes_items(); });
}

void ProgramCompiler::add_producer(StageIndex stage) {
  if (programs_.producers.contains(stage) && treatments_[stage].cut == nullptr) return;
  Producer producer;
  if (is_unchanged(stage)) {
    const Producer& before = unchanged_->producers.at(stage);
    producer.programs = before.programs;
    producer.iterations = before.iterations;
    producer.busiest = before.busiest;
  } else {
    const Stage& of = sample_.stages[stage];
    work_.clear();
    producer.programs.reserve(of.cycles.size());
    producer.iterations.reserve(of.cycles.size());
    for (const Cycle& cycle : of.cycles) {
      iteration_ = facts_.iteration_at(facts_.pipeline_of[stage], cycle.start);
      producer.programs.push_back(compile_range(cycle.first, cycle.end));
      producer.iterations.push_back(iteration_);
    }
    producer.busiest = work_.busiest();
  }
  producer.pipeline = facts_.pipeline_of[stage];
  producer.is_unordered = iterator(stage).text("deterministic") == "false" || edit_.unordered.contains(stage) ||
                          iterator(stage).number("deterministic") == 0;
  set_parallelism(stage, producer);
  const auto linked = facts_.ahead_of_links.find(stage);
  if (linked != facts_.ahead_of_links.end()) producer.limit = linked->second;
  if (producer.programs.empty()) {
    producer.programs.push_back({0, 0});
    producer.iterations.push_back(0);
  }
  programs_.producers[stage] = std::move(producer);
}

Programs ProgramCompiler::compile() {
  programs_.cores = edit_.cores.value_or(sample_.cores);
  programs_.pool_threads = edit_.pool_threads.value_or(sample_.pool_threads);
  programs_.cores_per_job = sample_.cores_per_function;
  programs_.jobs_hold_python = edit_.functions_hold_python;
  // An interleave that gets threads lets its functions run at once.
  functions_compete_ =
      facts_.functions_compete || std::any_of(edit_.cuts.begin(), edit_.cuts.end(),
                                              [](const auto& cut) { return cut.second.kind == Cut::Kind::interleave; });
  find_spared_work();
  programs_.actions.reserve(sample_.items.size());
  if (functions_compete_ != facts_.functions_compete) unchanged_ = nullptr;
  if (unchanged_ != nullptr) programs_.actions = unchanged_->actions;
  for (StageIndex stage = 0; stage < sample_.stages.size(); ++stage) {
    if (facts_.has_producer[stage]) add_producer(stage);
  }
  for (std::size_t index = 0; index < sample_.consumers.size(); ++index) {
    add_consumer(sample_.consumers[index], index == 0);
  }
  for (const auto& [stage, work] : work_of_cuts_) programs_.producers[stage].busiest = work.busiest();
  for (const auto& [stage, cut] : edit_.cuts) {
    if (cut.kind == Cut::Kind::interleave) spread_openings(programs_.producers[stage]);
    const bool is_filter = iterator(stage).is_sequential(Trait::filter);
    if (is_filter && cut.kind == Cut::Kind::map) spread_evenly(programs_.producers[stage].jobs);
  }
  return std::move(programs_);
}

Programs compile(const HostMeasurement& host, const SampleFacts& facts, const Edit& edit, bool is_traced,
                 const Programs* unchanged) {
  return ProgramCompiler(host, facts, edit, is_traced, unchanged).compile();
}

}  // namespace doctor
