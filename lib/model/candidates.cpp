#include "model/candidates.h"

#include <algorithm>

#include "measure/functions/function_types.h"
#include "model/interleaving.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// Less of the window than this is not worth a fix.
constexpr double kLeastBusy = 0.02;
constexpr std::size_t kMostCandidates = 24;  // each costs a replay, and the stages come busiest first
/// One end of an epoch may be the last.
constexpr std::size_t kFewestIterations = 2;

class CandidateFinder {
 public:
  CandidateFinder(const PipelineModel& model, std::int64_t pool_threads)
      : model_(model), host_(*model.host), pool_(pool_threads) {}

  std::vector<Fix> find() {
    std::vector<StageLoad> stages = stage_loads(model_);
    add_iterate_once();
    add_prefetch();
    add_deeper_prefetch();
    for (const StageLoad& stage : stages) {
      if (stage.busy < kLeastBusy) break;
      add_fixes_of(static_cast<IteratorId>(stage.stage));
    }
    if (fixes_.size() > kMostCandidates) fixes_.resize(kMostCandidates);
    return std::move(fixes_);
  }

 private:
  const IteratorMeasurement& operator[](IteratorId id) const { return host_.iterators[id]; }
  const Stage& stage(IteratorId id) const { return model_.sample().stages[index_of(id)]; }
  const DatasetKind& kind(IteratorId id) const { return (*this)[id].kind(); }

  void add(FixKind fix, IteratorId id, std::optional<std::int64_t> parallelism = {}) {
    add({fix, id, parallelism, {}});
  }
  void add(const Fix& added) {
    if (std::find(fixes_.begin(), fixes_.end(), added) == fixes_.end()) fixes_.push_back(added);
  }

  void add_interleave(IteratorId id) {
    // Windows are made by one thread: several of them at once measured x0.45 to x0.98.
    if (kind(id).is_sequential(Trait::flat_map) && takes_windows(host_, id)) return;
    add({FixKind::parallel_interleave, id, {}, cycle_to_set(host_, id)});
  }

  void add_iterate_once() {
    const ConsumerCycles& consumer = model_.sample().consumers.front();
    if (count_iterations(consumer) < kFewestIterations) return;
    if (can_iterate_once(host_, consumer.root)) add(FixKind::iterate_once, kNoIterator);
  }

  void add_prefetch() {
    const std::vector<ConsumerStep>& steps = model_.sample().consumers.front().steps;
    const auto is_taken_from = [&](const PipelineMeasurement& pipeline) {
      return pipeline.root != kNoIterator && std::any_of(steps.begin(), steps.end(), [&](const ConsumerStep& step) {
               return step.root == pipeline.root;
             });
    };
    for (const PipelineMeasurement& pipeline : host_.pipelines) {
      if (pipeline.prefetch == kNoIterator && is_taken_from(pipeline)) return add(FixKind::prefetch, kNoIterator);
    }
  }

  /// Waits that come in bursts are bridged by a buffer that holds many elements.
  void add_deeper_prefetch() {
    constexpr std::int64_t kTimesDeeper = 10;  // chosen: stalls last for some steps
    const IteratorId root = model_.sample().consumers.front().root;
    if (root == kNoIterator) return;
    for (const IteratorId input : (*this)[root].children) {
      if (!kind(input).has(Trait::prefetch)) continue;
      add(FixKind::buffer, input,
          kTimesDeeper * std::clamp<std::int64_t>((*this)[input].number("buffer_limit").value_or(2), 1, 100));
    }
  }

  void add_fixes_of(IteratorId id) {
    if (kind(id).has(Trait::map)) add_map_fixes(id);
    if (kind(id).has(Trait::interleave) || kind(id).is_sequential(Trait::flat_map)) add_interleave(id);
    if (kind(id).is_sequential(Trait::filter)) add(FixKind::parallel_filter, id);
    if (kind(id).source == Source::python) add(FixKind::files, id);
    // To copy small rows in parallel costs more than it saves: x0.66 to x0.95.
    if (kind(id).is_sequential(Trait::batch) && !batches_shuffled_rows(host_, id)) add(FixKind::parallel_batch, id);
    add_fixes_above(id);
    add_cache(id);
    if (kind(id).has(Trait::parallel) && (*this)[id].text("deterministic") == "true") add(FixKind::unordered, id);
  }

  void add_map_fixes(IteratorId id) {
    const std::int64_t pool = pool_;
    if (makes_one_element_a_dataset(host_, id)) {
      // More calls would have nothing to work on.
    } else if (!stage(id).is_async) {
      add(FixKind::parallel_map, id);
    } else {
      const std::int64_t calls = (*this)[id].number("parallelism").value_or(pool);
      if (calls < pool) add(FixKind::parallel_map, id, pool);
      add_larger_pool(calls);
    }
    const IteratorMeasurement& map = (*this)[id];
    if (!map.random_ops.empty() && !are_mostly_random(map.function_ops)) add(FixKind::split_cache, id);
    const IteratorId parent = (*this)[id].parent;
    const bool is_batched = parent != kNoIterator && kind(parent).is_sequential(Trait::batch);
    if (is_batched || kind(id).has(Trait::fused_batch)) add(FixKind::vectorize, id);
  }

  void add_larger_pool(std::int64_t calls) {
    add(FixKind::threadpool, kNoIterator, 2 * std::max({pool_, calls, model_.sample().cores}));
  }

  /// What stands above a stage may keep it from being reached: a filter, sequential interleaves, stages on its thread.
  void add_fixes_above(IteratorId id) {
    const std::vector<IteratorId> above = host_.iterators_above(id);
    if (!above.empty() && kind(above.front()).is_sequential(Trait::filter)) add(FixKind::filter_first, above.front());
    for (const IteratorId other : above) {
      const bool makes_datasets = (*this)[other].has(Trait::interleave) || kind(other).is_sequential(Trait::flat_map);
      if (makes_datasets && !stage(other).is_async) {
        add_interleave(other);
        add_larger_pool((*this)[other].number("cycle_length").value_or(1));
      }
    }
    add_less_work(id, above);
    if (!above.empty() && !stage(id).is_async && (*this)[above.front()].has(Trait::map)) {
      add(FixKind::prefetch_below, above.front());
    }
  }

  /// Elements that are thrown away above a map need not go through it.
  void add_less_work(IteratorId id, const std::vector<IteratorId>& above) {
    if (!(*this)[id].has(Trait::map)) return;
    bool is_next = true;
    for (const IteratorId other : above) {
      // Above a batch the elements are others.
      if ((*this)[other].number("batch_size")) return;
      const bool is_filter = kind(other).is_sequential(Trait::filter);
      if (is_filter && !is_next) return add(FixKind::map_after, id);
      if ((*this)[other].has(Trait::skip)) return add(FixKind::skip_first, other);
      is_next = is_next && kind(other).has(Trait::frame);
    }
  }

  /// A cache after what never ends is never complete, but a repeat can come after it; one after random work
  /// changes the training.
  void add_cache(IteratorId id) {
    if (!kind(id).has(Trait::worth_caching) && !kind(id).reads_files()) return;
    const auto spoils = [](const IteratorMeasurement& other) {
      const bool never_ends = other.has(Trait::endless) && !other.has(Trait::repeat);
      return never_ends || other.has(Trait::cache) || !other.random_ops.empty();
    };
    if (spoils((*this)[id]) || host_.first_below(id, spoils) != kNoIterator) return;
    // Inside of what makes a dataset for each element a cache would be made anew with it.
    if (!host_.has_above(id, Trait::cache | Trait::makes_datasets)) add(FixKind::cache, id);
  }

  const PipelineModel& model_;
  const HostMeasurement& host_;
  const std::int64_t pool_;
  std::vector<Fix> fixes_;
};

}  // namespace

bool batches_shuffled_rows(const HostMeasurement& host, IteratorId batch) {
  if (!host.iterators[batch].is_sequential(Trait::batch)) return false;
  bool is_shuffled = false;
  for (const IteratorId id : host.iterators_below(batch)) {
    const IteratorMeasurement& below = host.iterators[id];
    if (below.has(Trait::tensor_slices)) return is_shuffled;
    is_shuffled = is_shuffled || below.has(Trait::shuffle);
    if (!below.has(Trait::shuffle | Trait::repeat) || below.children.size() != 1) return false;
  }
  return false;
}

bool takes_windows(const HostMeasurement& host, IteratorId maker) {
  return host.has_below(maker, Trait::window);
}

std::vector<Fix> candidate_fixes(const PipelineModel& model, std::optional<std::int64_t> pool_threads) {
  return CandidateFinder(model, pool_threads.value_or(model.sample().pool_threads)).find();
}

}  // namespace doctor
