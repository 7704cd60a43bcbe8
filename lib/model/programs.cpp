#include "model/programs.h"

#include <algorithm>
#include <utility>

#include "model/sampled_work.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

// What the replay assumes of things that a trace shows only together with others, in us. Source: traces of TF 2.15 and
// 2.21 with known pipelines; none changes more than two of 65 culprits between half and twice its value.

/// Taking an element out of a buffer.
constexpr float kTake = 4;
constexpr float kFreeTake = 1;
/// The same from a prefetch at the end: a call into the runtime waits for it.
constexpr float kTakeAtEnd = 24;
/// What a function takes that does nothing, and an iterator's call.
constexpr double kFreeFunction = 10;
constexpr double kFreeCall = 0.3;
/// Reading an element from a cache.
constexpr double kReadFromCache = 8;
/// What recording a trace adds to a step of the consumer: markers, and ops that it runs one by one.
constexpr double kTracedStep = 300;
/// A step is never taken for shorter than this part of what was traced.
constexpr double kLeastOfStep = 0.3;
/// The same of work whose events were recorded.
constexpr double kLeastOfWork = 0.1;
/// From this part of a gap on in which ops run, it is work of this host and not waiting for a device.
constexpr double kHostBoundGap = 0.3;

/// Threads, elements in work and elements of a batch: no real pipeline has more, whatever a damaged trace says.
constexpr std::int64_t kMostAtOnce = 1 << 16;

/// What a stage above a full cache does in a call beyond so many times its usual work, it does to make the iterators
/// below: a full cache makes none.
constexpr double kMostOfUsualWork = 20;

using Kind = CycleItem::Kind;

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

class Compiler {
 public:
  Compiler(const HostMeasurement& host, const CycleSample& sample, const Edit& edit, bool is_traced)
      : host_(host), sample_(sample), edit_(edit), is_traced_(is_traced), treatments_(sample.stages.size()) {
    for (StageIndex stage = 0; stage < sample.stages.size(); ++stage) treat(stage);
  }

  Programs compile();

 private:
  /// What the edit does to a stage.
  struct Treatment {
    bool is_free = false;
    bool is_cached = false;  ///< it, or what it feeds
    bool is_cache = false;   ///< it, but nothing that it feeds
    double vectorized = 0;   ///< 0: not
    double factor = 1;
    const Cut* cut = nullptr;
    bool only_waits = false;          ///< Dataset.sleep()
    std::optional<double> most_work;  ///< us of its own, in one piece: it stands above a cache
    std::uint32_t skipped = 0;        ///< elements that the first of its calls in an iteration throws away
  };
  using Tally = std::map<StageIndex, double>;  ///< us of work
  /// Neighbouring work of one thread.
  struct Work {
    double cpu = 0;
    double wait = 0;
    double cores = 1;

    void add(const Work& other) {
      if (cpu + other.cpu > 0) cores = (cores * cpu + other.cores * other.cpu) / (cpu + other.cpu);
      cpu += other.cpu;
      wait += other.wait;
    }
  };

  void treat(StageIndex stage);
  Work cost_of(const CycleItem& item) const;
  Program compile_range(std::uint32_t first, std::uint32_t end);
  static StageIndex busiest_of(const Tally& work);
  void compile_cut(std::uint32_t enter, std::uint32_t leave);
  Work own_work(std::uint32_t enter, std::uint32_t leave) const;
  void add_actions(std::vector<Action>& to, Work& work, bool holds_pool_thread) const;
  Program store(const std::vector<Action>& actions);
  void add_producer(StageIndex stage);
  void set_parallelism(StageIndex stage, Producer& producer) const;
  void find_links();
  void find_pipelines();
  void find_iterations();
  std::uint32_t iteration_at(IteratorId pipeline, Picoseconds time) const;
  void find_pool_users();
  void find_work_of_caches();
  std::vector<Job> jobs_of(StageIndex stage) const;
  bool gets_prefetch(IteratorId root) const;
  static bool has_own_thread(const ConsumerCycles& consumer, const ConsumerStep& step);
  void add_consumer(const ConsumerCycles& consumer, bool is_main);
  Action gap_of(const ConsumerStep& step, double shortest_usual_gap) const;
  const IteratorMeasurement& iterator(StageIndex stage) const { return host_.iterators[stage]; }
  std::optional<std::int64_t> number(StageIndex stage, std::string_view attribute) const {
    return iterator(stage).number(attribute);
  }

  const HostMeasurement& host_;
  const CycleSample& sample_;
  const Edit& edit_;
  const bool is_traced_;
  std::vector<Treatment> treatments_;  ///< indexed by StageIndex
  std::map<StageIndex, std::int64_t> ahead_of_links_;
  std::vector<IteratorId> pipeline_of_;  ///< indexed by StageIndex: the root that a consumer takes elements of
  std::map<IteratorId, std::vector<Picoseconds>>
      iteration_starts_;                        ///< of the first consumer's pipelines, but the first
  std::map<IteratorId, double> cached_shares_;  ///< of a pipeline's work, 0..1: what full caches do away with
  std::uint32_t iteration_ = 0;                 ///< of the cycle that is compiled
  bool functions_compete_ = false;              ///< for threads of the pool
  Tally work_;                                  ///< that was compiled for the thread at hand
  std::map<StageIndex, Tally> work_of_cuts_;
  Tally* tally_ = &work_;
  Programs programs_;
};

void Compiler::treat(StageIndex stage) {
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
  treatment.only_waits = kind_of(iterator(stage).short_name) == "Sleep";
}

Compiler::Work Compiler::cost_of(const CycleItem& item) const {
  if (item.kind == Kind::outside) return {0, item.wait, 1};
  const Treatment& treatment = treatments_[item.stage];
  if (treatment.is_cached) return {};
  double cpu = item.cpu;
  double wait = item.wait;
  if (treatment.vectorized > 0) {
    cpu = (cpu + wait) / treatment.vectorized + (item.kind == Kind::function ? sample_.stages[item.stage].op_time : 0);
    wait = 0;
  } else if (!is_traced_) {
    cpu = std::max(kLeastOfWork * cpu, cpu - item.tracing);
  }
  cpu *= treatment.factor;
  wait *= treatment.factor;
  if (treatment.is_free) return {std::min(cpu, item.kind == Kind::function ? kFreeFunction : kFreeCall), 0, 1};
  if (treatment.only_waits) return {0, cpu + wait, 1};
  if (treatment.most_work && item.kind == Kind::work) cpu = std::min(cpu, *treatment.most_work);
  return {cpu, wait, item.cores};
}

void Compiler::add_actions(std::vector<Action>& to, Work& work, bool holds_pool_thread) const {
  if (work.cpu > 0 || work.wait > 0) {
    to.push_back({kNoStage, static_cast<float>(work.cpu), static_cast<float>(work.cores), static_cast<float>(work.wait),
                  holds_pool_thread});
  }
  work = {};
}

/// Of every stage the pipeline at its end. One that another takes its elements from begins and ends with that one.
void Compiler::find_pipelines() {
  const std::size_t count = sample_.stages.size();
  std::vector<StageIndex> linking(count, kNoStage);
  for (StageIndex stage = 0; stage < count; ++stage) {
    if (const StageIndex link = sample_.stages[stage].link; link != kNoStage) linking[link] = stage;
  }
  pipeline_of_.assign(count, kNoIterator);
  for (StageIndex stage = 0; stage < count; ++stage) {
    StageIndex above = stage;
    for (std::size_t steps = 0; steps <= count && pipeline_of_[above] == kNoIterator; ++steps) {
      const StageIndex parent = sample_.stages[above].parent;
      const StageIndex next = parent != kNoStage ? parent : linking[above];
      if (next == kNoStage) break;
      above = next;
    }
    pipeline_of_[stage] = pipeline_of_[above] != kNoIterator ? pipeline_of_[above] : static_cast<IteratorId>(above);
  }
}

/// A pipeline is made anew after the last call of the iteration before.
void Compiler::find_iterations() {
  if (sample_.consumers.empty()) return;
  std::map<IteratorId, Picoseconds> last_end;
  for (const ConsumerStep& step : sample_.consumers.front().steps) {
    if (step.begins_iteration) iteration_starts_[step.root].push_back(last_end[step.root]);
    last_end[step.root] = step.call.end;
  }
}

std::uint32_t Compiler::iteration_at(IteratorId pipeline, Picoseconds time) const {
  const auto starts = iteration_starts_.find(pipeline);
  if (starts == iteration_starts_.end()) return 0;
  const auto later = std::upper_bound(starts->second.begin(), starts->second.end(), time);
  return static_cast<std::uint32_t>(later - starts->second.begin());
}

/// Whether more functions may want to run at once than one: then they compete for the threads of the pool.
void Compiler::find_pool_users() {
  const auto is_interleave = [](const auto& cut) { return cut.second.kind == Cut::Kind::interleave; };
  functions_compete_ = std::any_of(edit_.cuts.begin(), edit_.cuts.end(), is_interleave);
  for (StageIndex stage = 0; stage < sample_.stages.size() && !functions_compete_; ++stage) {
    const DatasetKind& kind = dataset_kind(iterator(stage).short_name);
    functions_compete_ =
        sample_.stages[stage].is_async && kind.has(Trait::makes_datasets) && !sample_.stages[stage].cycles.empty();
  }
}

/// What full caches do away with: work of the stages above them, and a share of all that their pipelines do.
void Compiler::find_work_of_caches() {
  if (edit_.cached.empty()) return;
  std::set<StageIndex> above;
  for (const StageIndex cached : edit_.cached) {
    StageIndex next = sample_.stages[cached].parent;
    while (next != kNoStage && above.insert(next).second) next = sample_.stages[next].parent;
  }
  for (const auto& [stage, usual] : usual_work(sample_, above)) treatments_[stage].most_work = kMostOfUsualWork * usual;
  const std::vector<double> work = work_of_stages(sample_);
  std::map<IteratorId, double> all;
  for (StageIndex stage = 0; stage < work.size(); ++stage) {
    all[pipeline_of_[stage]] += work[stage];
    if (treatments_[stage].is_cached) cached_shares_[pipeline_of_[stage]] += work[stage];
  }
  for (auto& [pipeline, cached] : cached_shares_) cached = all[pipeline] > 0 ? cached / all[pipeline] : 0;
}

StageIndex Compiler::busiest_of(const Tally& work) {
  StageIndex busiest = kNoStage;
  double most = 0;
  for (const auto& [stage, time] : work) {
    if (time <= most) continue;
    most = time;
    busiest = stage;
  }
  return busiest;
}

Program Compiler::store(const std::vector<Action>& actions) {
  const auto first = static_cast<std::uint32_t>(programs_.actions.size());
  programs_.actions.insert(programs_.actions.end(), actions.begin(), actions.end());
  return {first, static_cast<std::uint32_t>(programs_.actions.size())};
}

Compiler::Work Compiler::own_work(std::uint32_t enter, std::uint32_t leave) const {
  Work work;
  for (std::uint32_t index = enter + 1; index < leave; ++index) {
    const CycleItem& item = sample_.items[index];
    const bool is_own = item.stage == sample_.items[enter].stage;
    if (is_own && (item.kind == Kind::work || item.kind == Kind::function)) work.add(cost_of(item));
  }
  return work;
}

/// The call of an iterator that gets threads of its own.
void Compiler::compile_cut(std::uint32_t enter, std::uint32_t leave) {
  const StageIndex stage = sample_.items[enter].stage;
  const Cut& cut = *treatments_[stage].cut;
  const Program below = [&] {
    Tally* const around = std::exchange(tally_, &work_of_cuts_[stage]);
    // Without the cut, or it would be cut again.
    treatments_[stage].cut = nullptr;
    const bool was_cached = treatments_[stage].is_cached;
    if (cut.kind == Cut::Kind::map) treatments_[stage].is_cached = true;  // its own work is the job's
    const Program program = compile_range(enter, leave + 1);
    treatments_[stage].is_cached = was_cached;
    treatments_[stage].cut = &cut;
    tally_ = around;
    return program;
  }();
  Producer& producer = programs_.producers[stage];
  producer.pipeline = pipeline_of_[stage];
  producer.programs.push_back(below);
  producer.iterations.push_back(iteration_);
  // Both may come from the attributes of the trace, which hold any number.
  const auto cycle_length = std::clamp<std::int64_t>(cut.cycle_length, 1, kMostAtOnce);
  producer.parallelism = std::clamp<std::int64_t>(cut.parallelism, 1, kMostAtOnce);
  producer.limit = producer.parallelism;
  if (cut.kind == Cut::Kind::map) {
    const Work work = own_work(enter, leave);
    producer.kind = Producer::Kind::dispatcher;
    producer.jobs.push_back({static_cast<float>(work.cpu), static_cast<float>(work.wait), 0});
  } else if (cut.kind == Cut::Kind::interleave) {
    producer.threads = std::min(producer.parallelism, cycle_length);
    producer.limit = cycle_length;
  }
}

Program Compiler::compile_range(std::uint32_t first, std::uint32_t end) {
  std::vector<Action> actions;
  Work work;
  bool holds_pool_thread = false;
  std::optional<std::uint32_t> skipping;  ///< the item with which a skip throws elements away
  std::uint32_t skipped = 1;
  for (std::uint32_t index = first; index < end; ++index) {
    const CycleItem& item = sample_.items[index];
    if (item.kind == Kind::leave) continue;
    if (item.kind == Kind::enter) {
      if (treatments_[item.stage].skipped > 0) {
        const std::vector<std::uint32_t> pulls = pulls_in(sample_, index);
        if (pulls.size() == 2) skipping = pulls.front();
        skipped = treatments_[item.stage].skipped;
      }
      if (treatments_[item.stage].is_cache) work.add({kReadFromCache, 0, 1});
      if (treatments_[item.stage].cut == nullptr) continue;
      const std::uint32_t leave = end_of_call(sample_, index);
      compile_cut(index, leave);
      add_actions(actions, work, holds_pool_thread);
      actions.push_back({item.stage, kTake, 1, 0});
      index = leave;
      continue;
    }
    if (item.kind == Kind::pull) {
      if (treatments_[item.stage].is_cached) {
        if (treatments_[item.stage].is_cache) work.add({kReadFromCache, 0, 1});
        continue;
      }
      add_actions(actions, work, holds_pool_thread);
      actions.insert(actions.end(), skipping == index ? skipped : 1,
                     {item.stage, treatments_[item.stage].is_free ? kFreeTake : kTake, 1, 0});
      continue;
    }
    const Work cost = cost_of(item);
    if (item.stage != kNoStage) (*tally_)[item.stage] += cost.cpu + cost.wait;
    const bool is_function = functions_compete_ && item.kind == Kind::function;
    if (is_function != holds_pool_thread) {
      add_actions(actions, work, holds_pool_thread);
      holds_pool_thread = is_function;
    }
    work.add(cost);
  }
  add_actions(actions, work, holds_pool_thread);
  return store(actions);
}

std::vector<Job> Compiler::jobs_of(StageIndex stage) const {
  const Stage& of = sample_.stages[stage];
  const Treatment& treatment = treatments_[stage];
  std::vector<Job> jobs;
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
    const double cpu = is_traced_ ? cost.cpu : std::max(kLeastOfWork * cost.cpu, double{cost.cpu} - cost.tracing);
    add(cpu, cost.python, cost.calling);
  }
  return jobs;
}

void Compiler::set_parallelism(StageIndex stage, Producer& producer) const {
  const DatasetKind& kind = dataset_kind(iterator(stage).short_name);
  std::int64_t parallelism = number(stage, "parallelism").value_or(0);
  if (parallelism <= 0) parallelism = sample_.stages[stage].elements_in_work.value_or(sample_.cores);
  // AUTOTUNE comes to as many calls as the pool has threads.
  const bool is_tuned = iterator(stage).text("autotune") == "true" || iterator(stage).number("autotune") == 1;
  if (is_tuned && edit_.pool_threads) parallelism = std::max(parallelism, *edit_.pool_threads);
  if (const auto set = edit_.parallelism.find(stage); set != edit_.parallelism.end()) parallelism = set->second;
  parallelism = std::clamp<std::int64_t>(parallelism, 1, kMostAtOnce);
  if (kind.has(Trait::makes_datasets)) {
    std::int64_t cycle = number(stage, "cycle_length").value_or(0);
    cycle = cycle <= 0 ? parallelism : std::min(cycle, kMostAtOnce);
    // A change of the one is a change of the other.
    if (edit_.parallelism.contains(stage)) cycle = std::max(cycle, parallelism);
    constexpr std::int64_t kMostElementsAhead = 8;
    const std::int64_t ahead =
        std::clamp<std::int64_t>(number(stage, "buffer_output_elements").value_or(1), 1, kMostElementsAhead);
    producer.threads = std::min(parallelism, cycle);
    producer.limit = cycle * ahead;
  } else if (kind.has(Trait::parallel)) {
    producer.kind = Producer::Kind::dispatcher;
    producer.parallelism = producer.limit = parallelism;
    if (kind.has(Trait::fused_batch)) {
      producer.batch = std::clamp<std::int64_t>(number(stage, "batch_size").value_or(1), 1, kMostAtOnce);
      constexpr std::int64_t kMostBatches = 16;
      // No fewer than its calls fill, which a damaged trace may say are very many.
      const std::int64_t least = (parallelism + producer.batch - 1) / producer.batch;
      const std::int64_t most = std::max(kMostBatches, least);
      const std::int64_t batches = std::clamp(number(stage, "max_batch_results").value_or(2), least, most);
      producer.limit = std::max(parallelism, batches * producer.batch);
      producer.largest_limit = most * producer.batch;
    }
    producer.jobs = jobs_of(stage);
  } else if (kind_of(iterator(stage).short_name) == "Prefetch") {
    constexpr std::int64_t kNoLimit = 1'000'000;  // larger ones are marks of "as many as it likes"
    const std::int64_t limit = number(stage, "buffer_limit").value_or(0);
    producer.limit = limit > 0 && limit < kNoLimit ? limit : 2;
    if (const auto set = edit_.buffer.find(stage); set != edit_.buffer.end()) producer.limit = set->second;
  }
}

/// Of the pipelines that others take their elements from: how many elements they make ahead. A client of the tf.data
/// service asks for several at once, a device pipeline for one.
void Compiler::find_links() {
  constexpr std::int64_t kAheadOfService = 4;
  for (StageIndex stage = 0; stage < sample_.stages.size(); ++stage) {
    if (sample_.stages[stage].link == kNoStage) continue;
    std::int64_t& ahead = ahead_of_links_[sample_.stages[stage].link];
    const bool is_service = dataset_kind(iterator(stage).short_name).source == Source::service;
    ahead = is_service ? kAheadOfService : ahead + 1;
  }
}

void Compiler::add_producer(StageIndex stage) {
  if (programs_.producers.contains(stage) && treatments_[stage].cut == nullptr) return;
  const Stage& of = sample_.stages[stage];
  std::vector<Program> programs;
  work_.clear();
  Producer producer;
  for (const Cycle& cycle : of.cycles) {
    iteration_ = iteration_at(pipeline_of_[stage], cycle.start);
    programs.push_back(compile_range(cycle.first, cycle.end));
    producer.iterations.push_back(iteration_);
  }
  producer.pipeline = pipeline_of_[stage];
  producer.busiest = busiest_of(work_);
  producer.is_unordered = iterator(stage).text("deterministic") == "false" || edit_.unordered.contains(stage) ||
                          iterator(stage).number("deterministic") == 0;
  set_parallelism(stage, producer);
  if (const auto linked = ahead_of_links_.find(stage); linked != ahead_of_links_.end()) producer.limit = linked->second;
  producer.programs = std::move(programs);
  if (producer.programs.empty()) {
    producer.programs.push_back({0, 0});
    producer.iterations.push_back(0);
  }
  programs_.producers[stage] = std::move(producer);
}

/// What the consumer does between two elements.
Action Compiler::gap_of(const ConsumerStep& step, double shortest_usual_gap) const {
  const bool is_host_bound = step.gap > 0 && step.busy > kHostBoundGap * step.gap;
  double gap = step.gap;
  const auto cached = cached_shares_.find(step.root);
  if (edit_.iterates_once || edit_.without_input) {
    gap = std::max(0.0, gap - step.remaking);
  } else if (cached != cached_shares_.end()) {
    // An iterator whose elements are read from memory has no functions to make, and no work to wait for when it goes.
    gap = std::max(0.0, gap - cached->second * step.remaking);
  }
  if (sample_.cores_are_full() && !is_host_bound) gap = std::min(gap, shortest_usual_gap);
  if (!is_traced_ && !is_host_bound) gap = std::max(kLeastOfStep * gap, gap - kTracedStep);
  gap = std::max(1.0, gap / edit_.consumer_factor);
  if (edit_.without_input && edit_.functions_hold_python) gap *= 1 - 0.5 * sample_.python_beside_consumer;
  if (!is_host_bound) return {kNoStage, 0, 1, static_cast<float>(gap)};
  const double busy = step.busy / edit_.consumer_factor;
  if (sample_.cores_are_full()) {
    return {kNoStage, static_cast<float>(gap), static_cast<float>(std::max(1.0, step.core_time / step.gap)), 0};
  }
  return {kNoStage, static_cast<float>(busy), static_cast<float>(std::max(1.0, step.core_time / step.busy)),
          static_cast<float>(std::max(1.0, gap - busy))};
}

/// Whether the edit puts a prefetch at the end of a pipeline: one that has none.
bool Compiler::gets_prefetch(IteratorId root) const {
  if (!edit_.prefetch_at_end || root == kNoIterator) return false;
  const std::vector<IteratorId>& inputs = iterator(static_cast<StageIndex>(index_of(root))).children;
  return std::none_of(inputs.begin(), inputs.end(), [&](IteratorId input) {
    return kind_of(host_.iterators[index_of(input)].short_name) == "Prefetch";
  });
}

/// Whether the call of a step is made while the step before goes on.
bool Compiler::has_own_thread(const ConsumerCycles& consumer, const ConsumerStep& step) {
  return consumer.overlaps && step.root != kNoIterator;
}

void Compiler::add_consumer(const ConsumerCycles& consumer, bool is_main) {
  std::vector<double> gaps;
  for (const ConsumerStep& step : consumer.steps) gaps.push_back(step.gap);
  std::sort(gaps.begin(), gaps.end());
  const double shortest_usual_gap = gaps[gaps.size() / 4];
  Programs::Consumer compiled;
  std::vector<StageIndex> prefetched;  ///< the roots of pipelines that get a prefetch, one for each step
  work_.clear();
  for (std::size_t index = 0; index < consumer.steps.size(); ++index) {
    const ConsumerStep& step = consumer.steps[index];
    const bool is_prefetched = is_main && gets_prefetch(step.root);
    iteration_ = iteration_at(step.root, step.call.start);
    const Action gap = gap_of(step, shortest_usual_gap);
    const Program get_next = compile_range(step.cycle.first, step.cycle.end);
    std::vector<Action> actions;
    if (edit_.without_input) {
      actions.push_back({kNoStage, 0, 1, 20});
    } else if (is_prefetched || has_own_thread(consumer, step)) {
      const auto root = static_cast<StageIndex>(index_of(step.root));
      Producer& producer = programs_.producers[root];
      producer.pipeline = step.root;
      producer.programs.push_back(get_next);
      producer.iterations.push_back(iteration_);
      if (!is_prefetched) producer.limit = 1;
      prefetched.push_back(root);
      actions.push_back({root, is_prefetched ? kTakeAtEnd : kTake, 1, 0});
    } else {
      const std::span<const Action> of = programs_.of(get_next);
      actions.assign(of.begin(), of.end());
    }
    actions.push_back(gap);
    if (consumer.overlaps) {
      const double beside = consumer.steps[(index + 1) % consumer.steps.size()].beside / edit_.consumer_factor;
      actions.push_back({kNoStage, 0, 1, static_cast<float>(beside)});
    }
    compiled.steps.push_back(store(actions));
    const bool begins_iteration = step.begins_iteration && !edit_.iterates_once;
    compiled.begins_iteration.push_back(begins_iteration ? step.root : kNoIterator);
    compiled.gaps += gap.cpu + gap.wait;
  }
  compiled.busiest = busiest_of(work_);
  for (const auto& [stage, time] : work_) compiled.get_next_work += time;
  for (const StageIndex root : prefetched) {
    programs_.producers[root].busiest = compiled.busiest;
    compiled.get_next_work = 0;
  }
  if (!prefetched.empty()) compiled.busiest = kNoStage;
  programs_.consumers.push_back(std::move(compiled));
}

Programs Compiler::compile() {
  programs_.cores = edit_.cores.value_or(sample_.cores);
  programs_.pool_threads = edit_.pool_threads.value_or(sample_.pool_threads);
  programs_.cores_per_job = sample_.cores_per_function;
  programs_.jobs_hold_python = edit_.functions_hold_python;
  find_links();
  find_pipelines();
  find_iterations();
  find_pool_users();
  find_work_of_caches();
  for (const auto& [stage, count] : skipped_elements(host_, sample_)) treatments_[stage].skipped = count;
  // A trace may have a hundred thousand pipelines, most of which this part of it does not show at work.
  std::vector<bool> is_asked(sample_.stages.size());
  for (const CycleItem& item : sample_.items) {
    if (item.kind == Kind::pull) is_asked[item.stage] = true;
  }
  for (StageIndex stage = 0; stage < sample_.stages.size(); ++stage) {
    if (is_asked[stage] || !sample_.stages[stage].cycles.empty()) add_producer(stage);
  }
  for (std::size_t index = 0; index < sample_.consumers.size(); ++index) {
    add_consumer(sample_.consumers[index], index == 0);
  }
  for (const auto& [stage, work] : work_of_cuts_) programs_.producers[stage].busiest = busiest_of(work);
  for (const auto& [stage, cut] : edit_.cuts) {
    const bool is_filter = kind_of(iterator(stage).short_name) == "Filter";
    if (is_filter && cut.kind == Cut::Kind::map) spread_evenly(programs_.producers[stage].jobs);
  }
  return std::move(programs_);
}

}  // namespace

Programs compile(const HostMeasurement& host, const CycleSample& sample, const Edit& edit, bool is_traced) {
  return Compiler(host, sample, edit, is_traced).compile();
}

}  // namespace doctor
