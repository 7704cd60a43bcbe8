#include <algorithm>
#include <vector>

#include "model/program_compiler.h"
#include "tree/dataset_kinds.h"

// What the consumer does becomes a program: its calls, and the gaps between them.

namespace doctor {

/// What the consumer does between two elements.
Action ProgramCompiler::gap_of(const ConsumerStep& step, double shortest_usual_gap) const {
  const bool is_host_bound = step.gap > 0 && step.busy > kHostBoundGap * step.gap;
  double gap = step.gap;
  const auto cached = cached_shares_.find(step.root);
  if (edit_.iterates_once || edit_.without_input) {
    gap = std::max(0.0, gap - step.remaking);
  } else if (cached != cached_shares_.end()) {
    // An iterator whose elements are read from memory has no functions to make, and no work to wait for when it goes.
    gap = std::max(0.0, gap - cached->second * step.remaking);
  }
  // The input keeps the consumer from its core, or from Python's lock, for less time the less it does.
  gap = std::max(0.0, gap - (edit_.without_input ? 1 : spared_share_) * step.late);
  if (sample_.cores_are_full() && !is_host_bound) gap = std::min(gap, shortest_usual_gap);
  // What a recording adds to the launch of a kernel is longer than the launch.
  if (!is_traced_ && !is_host_bound) {
    const double spared = kTracedStep + step.launching + (edit_.without_input ? kCallOfGetNext : 0);
    gap = std::max(kLeastOfStep * gap, gap - spared);
  }
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
bool ProgramCompiler::gets_prefetch(IteratorId root) const {
  if (!edit_.prefetch_at_end || root == kNoIterator) return false;
  const std::vector<IteratorId>& inputs = iterator(static_cast<StageIndex>(index_of(root))).children;
  return std::none_of(inputs.begin(), inputs.end(),
                      [&](IteratorId input) { return host_.iterators[input].has(Trait::prefetch); });
}

/// Whether the edit puts a repeat() at the end of a pipeline, with a prefetch above it: what stands below is made anew
/// for each iteration all the same.
bool ProgramCompiler::is_repeated(IteratorId root) const {
  return edit_.iterates_once && root != kNoIterator && edit_.buffer.contains(static_cast<StageIndex>(index_of(root)));
}

/// Whether the call of a step is made while the step before goes on.
bool ProgramCompiler::has_own_thread(const ConsumerCycles& consumer, const ConsumerStep& step) {
  return consumer.overlaps && step.root != kNoIterator;
}

void ProgramCompiler::add_consumer(const ConsumerCycles& consumer, bool is_main) {
  std::vector<double> gaps;
  gaps.reserve(consumer.steps.size());
  for (const ConsumerStep& step : consumer.steps) gaps.push_back(step.gap);
  std::sort(gaps.begin(), gaps.end());
  const double shortest_usual_gap = gaps[gaps.size() / 4];
  Programs::Consumer compiled;
  std::vector<StageIndex> prefetched;  ///< the roots of pipelines that get a prefetch, one for each step
  work_.clear();
  compiled.steps.reserve(consumer.steps.size());
  compiled.begins_iteration.reserve(consumer.steps.size());
  for (std::size_t index = 0; index < consumer.steps.size(); ++index) {
    const ConsumerStep& step = consumer.steps[index];
    const bool is_prefetched = is_main && gets_prefetch(step.root);
    const bool goes_on = is_main && is_repeated(step.root);
    iteration_ = facts_.iteration_at(step.root, step.call.start);
    const Action gap = gap_of(step, shortest_usual_gap);
    const Program get_next = compile_range(step.cycle.first, step.cycle.end);
    std::vector<Action>& actions = programs_.actions;
    auto first = static_cast<std::uint32_t>(actions.size());
    if (edit_.without_input) {
      actions.push_back({kNoStage, 0, 1, 20});
    } else if (is_prefetched || goes_on || has_own_thread(consumer, step)) {
      const auto root = static_cast<StageIndex>(index_of(step.root));
      Producer& producer = programs_.producers[root];
      producer.pipeline = step.root;
      producer.programs.push_back(get_next);
      producer.iterations.push_back(iteration_);
      if (!is_prefetched) producer.limit = 1;
      if (goes_on) producer.largest_limit = edit_.buffer.at(root);
      prefetched.push_back(root);
      actions.push_back({root, is_prefetched || goes_on ? kTakeAtEnd : kTake, 1, 0});
    } else {
      first = get_next.first;
    }
    actions.push_back(gap);
    if (consumer.overlaps) {
      const double beside = consumer.steps[(index + 1) % consumer.steps.size()].beside / edit_.consumer_factor;
      actions.push_back({kNoStage, 0, 1, static_cast<float>(beside)});
    }
    compiled.steps.push_back({first, static_cast<std::uint32_t>(actions.size())});
    const bool begins_iteration = step.begins_iteration && !edit_.iterates_once;
    compiled.begins_iteration.push_back(begins_iteration ? step.root : kNoIterator);
    compiled.gaps += gap.cpu + gap.wait;
  }
  compiled.busiest = work_.busiest();
  compiled.get_next_work = work_.sum();
  for (const StageIndex root : prefetched) {
    programs_.producers[root].busiest = compiled.busiest;
    compiled.get_next_work = 0;
  }
  if (!prefetched.empty()) compiled.busiest = kNoStage;
  programs_.consumers.push_back(std::move(compiled));
}

}  // namespace doctor
