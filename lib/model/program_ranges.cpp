#include <algorithm>
#include <utility>

#include "model/program_compiler.h"
#include "model/sampled_work.h"

// Items of a sample become the actions of a thread. Each replay compiles all items: their indices, and those of their
// stages, are the sample's own and not checked.

namespace doctor {

[[gnu::always_inline]] inline ProgramCompiler::Work ProgramCompiler::cost_of(const CycleItem& item,
                                                                             const Treatment* treatments) const {
  if (item.kind == Kind::outside) return {0, item.wait, 1};
  const Treatment& treatment = treatments[item.stage];
  if (treatment.is_cached) return {};
  double cpu = is_traced_ ? double{item.cpu} : std::max(kLeastOfWork * item.cpu, double{item.cpu} - item.tracing);
  double wait = item.wait;
  if (!treatment.changes_cost) return {cpu, wait, item.cores};
  if (treatment.vectorized > 0) {
    cpu = (double{item.cpu} + wait) / treatment.vectorized +
          (item.kind == Kind::function ? sample_.stages[item.stage].op_time : 0);
    wait = 0;
  }
  cpu *= treatment.factor;
  wait *= treatment.factor;
  if (treatment.is_free) return {std::min(cpu, item.kind == Kind::function ? kFreeFunction : kFreeCall), 0, 1};
  if (treatment.only_waits) return {0, cpu + wait, 1};
  if (treatment.most_work && item.kind == Kind::work) cpu = std::min(cpu, *treatment.most_work);
  return {cpu, wait, item.cores};
}

void ProgramCompiler::add_action(Work& work, bool holds_pool_thread) {
  if (work.cpu > 0 || work.wait > 0) {
    open_.push_back({kNoStage, static_cast<float>(work.cpu), static_cast<float>(work.cores),
                     static_cast<float>(work.wait), holds_pool_thread});
  }
  work = {};
}

ProgramCompiler::Work ProgramCompiler::own_work(std::uint32_t enter, std::uint32_t leave) const {
  Work work;
  for (std::uint32_t index = enter + 1; index < leave; ++index) {
    const CycleItem& item = sample_.items[index];
    const bool is_own = item.stage == sample_.items[enter].stage;
    if (is_own && (item.kind == Kind::work || item.kind == Kind::function)) work.add(cost_of(item, treatments_.data()));
  }
  return work;
}

/// The call of an iterator that gets threads of its own.
void ProgramCompiler::compile_cut(std::uint32_t enter, std::uint32_t leave) {
  const StageIndex stage = sample_.items[enter].stage;
  const Cut& cut = *treatments_[stage].cut;
  const Program below = [&] {
    WorkTally* const around = std::exchange(tally_, &work_of_cuts_[stage]);
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
  producer.pipeline = facts_.pipeline_of[stage];
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
    set_interleaving(stage, producer.parallelism, cycle_length, producer);
  }
}

/// The actions are the last ones of the programs then.
Program ProgramCompiler::compile_range(std::uint32_t first, std::uint32_t end) {
  const std::size_t begin = open_.size();
  Work work;
  bool holds_pool_thread = false;
  std::optional<std::uint32_t> skipping;  ///< the item with which a skip throws elements away
  std::uint32_t skipped = 1;
  // Nothing in here moves these.
  const CycleItem* const items = sample_.items.data();
  const Treatment* const treatments = treatments_.data();
  const std::uint32_t* const skipped_of = facts_.skipped.data();
  const bool functions_compete = functions_compete_;
  WorkTally& tally = *tally_;
  const std::uint8_t* const enters_of_note = enters_of_note_.data();
  for (std::uint32_t index = first; index < end; ++index) {
    const CycleItem& item = items[index];
    if (item.kind == Kind::leave) continue;
    if (item.kind == Kind::enter) {
      if (enters_of_note[item.stage] == 0) continue;
      const Treatment& treatment = treatments[item.stage];
      if (const std::uint32_t count = skipped_of[item.stage]; count > 0) {
        const std::vector<std::uint32_t> pulls = pulls_in(sample_, index);
        if (pulls.size() == 2) skipping = pulls.front();
        skipped = count;
      }
      if (treatment.is_cache) work.add({kReadFromCache, 0, 1});
      if (treatment.cut == nullptr) continue;
      const std::uint32_t leave = end_of_call(sample_, index);
      compile_cut(index, leave);
      add_action(work, holds_pool_thread);
      open_.push_back({item.stage, kTake, 1, 0});
      index = leave;
      continue;
    }
    if (item.kind == Kind::pull) {
      const Treatment& treatment = treatments[item.stage];
      if (treatment.is_cached) {
        if (treatment.is_cache) work.add({kReadFromCache, 0, 1});
        continue;
      }
      add_action(work, holds_pool_thread);
      open_.insert(open_.end(), skipping == index ? skipped : 1,
                   {item.stage, treatment.is_free ? kFreeTake : kTake, 1, 0});
      continue;
    }
    const Work cost = cost_of(item, treatments);
    if (item.stage != kNoStage) tally.add(item.stage, cost.cpu + cost.wait);
    const bool is_function = functions_compete && item.kind == Kind::function;
    if (is_function != holds_pool_thread) {
      add_action(work, holds_pool_thread);
      holds_pool_thread = is_function;
    }
    work.add(cost);
  }
  add_action(work, holds_pool_thread);
  const auto stored = static_cast<std::uint32_t>(programs_.actions.size());
  programs_.actions.insert(programs_.actions.end(), open_.begin() + static_cast<std::ptrdiff_t>(begin), open_.end());
  open_.resize(begin);
  return {stored, static_cast<std::uint32_t>(programs_.actions.size())};
}

}  // namespace doctor
