#include <algorithm>

#include "model/fix.h"
#include "model/interleaving.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// AUTOTUNE doubles a buffer as long as it runs empty after it was full. Source: TF's PrefetchAutotuner.
constexpr std::int64_t kAutotunedBuffer = 512;

StageIndex stage_of(IteratorId iterator) {
  return static_cast<StageIndex>(index_of(iterator));
}

/// The batch that a map feeds: the nearest one above.
double batch_above(const HostMeasurement& host, IteratorId iterator) {
  constexpr double kUsualBatch = 32;  // where the trace does not say: the default of Keras
  const auto is_batch = [](const IteratorMeasurement& one) { return one.number("batch_size").value_or(0) > 1; };
  // One that is fused with its batch has the batch's size itself.
  const IteratorId batch = is_batch(host.iterators[iterator]) ? iterator : host.first_above(iterator, is_batch);
  return batch == kNoIterator ? kUsualBatch : static_cast<double>(*host.iterators[batch].number("batch_size"));
}

/// The pool bounds what AUTOTUNE comes to, not the number of cores.
std::int64_t calls_of(const Fix& fix, const PipelineModel& model, const Edit& edit) {
  return fix.parallelism.value_or(edit.pool_threads.value_or(model.sample().pool_threads));
}

void make_parallel_map(const Fix& fix, const PipelineModel& model, Edit& edit) {
  const StageIndex stage = stage_of(fix.iterator);
  const std::int64_t calls = calls_of(fix, model, edit);
  if (model.sample().stages[stage].is_async) {
    edit.parallelism[stage] = calls;
  } else {
    edit.cuts[stage] = {Cut::Kind::map, calls, 1};
  }
}

/// A parallel interleave makes several datasets at once, but the elements that it makes them of one after another.
void feed_from_one_thread(IteratorId interleave, std::int64_t ahead, const PipelineModel& model, Edit& edit) {
  const IteratorId input = input_of_datasets(*model.host, interleave);
  if (input == kNoIterator || model.sample().stages[stage_of(input)].is_async) return;
  const auto works = [](const OfKind& iterator) {
    return iterator.has(Trait::map) || iterator.kind().reads_files() || iterator.kind().source == Source::python;
  };
  const bool is_work = works(model.host->iterators[input]) || model.host->first_below(input, works) != kNoIterator;
  if (is_work) edit.cuts[stage_of(input)] = {Cut::Kind::prefetch, ahead, 1};
}

/// Source: ComputeCycleLength() of TF's ParallelInterleaveDatasetOp.
std::int64_t usual_cycle(std::int64_t cores) {
  return (cores + 2) / 3;
}

void make_parallel_interleave(const Fix& fix, const PipelineModel& model, Edit& edit) {
  const StageIndex stage = stage_of(fix.iterator);
  const std::int64_t chosen_by_tf = fix.parallelism.value_or(usual_cycle(model.sample().cores));
  const std::int64_t cycle = fix.cycle_length.value_or(chosen_cycle(*model.host, fix.iterator).value_or(chosen_by_tf));
  const std::int64_t threads = fix.parallelism.value_or(cycle);
  if (model.sample().stages[stage].is_async) {
    edit.parallelism[stage] = std::min(threads, cycle);
  } else {
    edit.cuts[stage] = {Cut::Kind::interleave, threads, cycle};
    feed_from_one_thread(fix.iterator, cycle, model, edit);
  }
}

/// Elements that leave an iterator for each that it takes: a skip takes many with one call, which maps below it make of
/// as many.
double kept_share(const HostMeasurement& host, IteratorId id) {
  const IteratorMeasurement& iterator = host.iterators[id];
  std::uint64_t taken = 1;
  std::vector<IteratorId> inputs = iterator.children;
  while (!inputs.empty()) {
    const IteratorMeasurement& input = host.iterators[inputs.back()];
    inputs.pop_back();
    taken = std::max(taken, input.calls);
    if (input.has(Trait::map) && input.children.size() == 1) inputs.push_back(input.children.front());
  }
  return std::min(1.0, static_cast<double>(iterator.calls) / static_cast<double>(taken));
}

/// Lets a map work on what the filter above it lets through.
void move_after_filter(IteratorId map, const PipelineModel& model, Edit& edit) {
  const auto is_filter = [](const OfKind& iterator) { return iterator.is_sequential(Trait::filter); };
  const IteratorId filter = model.host->first_above(map, is_filter);
  if (filter != kNoIterator) edit.work_factor[stage_of(map)] = kept_share(*model.host, filter);
}

/// The maps below work on what is not skipped only.
void skip_before_maps(IteratorId skip, const PipelineModel& model, Edit& edit) {
  for (const IteratorId below : model.host->iterators_below(skip)) {
    if (!model.host->iterators[below].has(Trait::map)) continue;
    edit.work_factor[stage_of(below)] = kept_share(*model.host, skip);
  }
}

/// Half of the map, and what stands before it, is read from memory. How much of a function comes before its random ops
/// a trace does not say.
void split_and_cache(IteratorId map, const PipelineModel& model, Edit& edit) {
  constexpr double kHalf = 0.5;  // the middle of what is not known; widen_for_split() has the rest
  edit.work_factor[stage_of(map)] = kHalf;
  for (const IteratorId input : model.host->iterators[map].children) edit.cached.insert(stage_of(input));
}

/// Of a pipeline that ends in a prefetch, how many elements it may hold.
void set_buffer_at_end(std::int64_t elements, const PipelineModel& model, Edit& edit) {
  const IteratorId root = model.sample().consumers.front().root;
  if (root == kNoIterator) return;
  for (const IteratorId input : model.host->iterators[root].children) {
    if (model.host->iterators[input].has(Trait::prefetch)) edit.buffer[stage_of(input)] = elements;
  }
}

/// Whoever takes all epochs from one iterator writes repeat() at the end, and TF puts a prefetch above it: in place of
/// the pipeline's root, which hands out its elements. Source: TF's inject_prefetch, which does so where the last
/// transformation is not asynchronous. If the loop makes an iterator for each step, the dataset never reaches its end.
void put_prefetch_above_repeat(const PipelineModel& model, Edit& edit) {
  const ConsumerCycles& consumer = model.sample().consumers.front();
  if (iterates_for_each_step(consumer)) return;
  for (const ConsumerStep& step : consumer.steps) {
    if (step.begins_iteration) edit.buffer[stage_of(step.root)] = kAutotunedBuffer;
  }
}

}  // namespace

bool can_iterate_once(const HostMeasurement& host, IteratorId root) {
  return root != kNoIterator && !host.has_below(root, Trait::shuffle);
}

std::vector<Fix> fixes_to_iterate_once(const HostMeasurement& host, IteratorId root) {
  if (!can_iterate_once(host, root)) return {};
  return {{FixKind::iterate_once, kNoIterator, {}, {}}};
}

std::size_t count_iterations(const ConsumerCycles& consumer) {
  return static_cast<std::size_t>(std::count_if(consumer.steps.begin(), consumer.steps.end(),
                                                [](const ConsumerStep& step) { return step.begins_iteration; }));
}

bool iterates_for_each_step(const ConsumerCycles& consumer) {
  return 2 * count_iterations(consumer) > consumer.steps.size();
}

void apply(const Fix& fix, const PipelineModel& model, Edit& edit) {
  constexpr std::int64_t kUsualBuffer = 2;  // where the trace does not say: the smallest that bridges a step
  const HostMeasurement& host = *model.host;
  switch (fix.kind) {
    case FixKind::parallel_map:
      return make_parallel_map(fix, model, edit);
    case FixKind::parallel_interleave:
      return make_parallel_interleave(fix, model, edit);
    case FixKind::parallel_batch:
    case FixKind::parallel_filter:
      edit.cuts[stage_of(fix.iterator)] = {Cut::Kind::map, calls_of(fix, model, edit), 1};
      break;
    case FixKind::prefetch:
      edit.prefetch_at_end = true;
      if (fix.parallelism) set_buffer_at_end(*fix.parallelism, model, edit);
      break;
    case FixKind::iterate_once:
      edit.iterates_once = true;
      put_prefetch_above_repeat(model, edit);
      break;
    case FixKind::prefetch_below:
      for (const IteratorId input : host.iterators[fix.iterator].children) {
        if (model.sample().stages[index_of(input)].is_async) continue;
        edit.cuts[stage_of(input)] = {Cut::Kind::prefetch, fix.parallelism.value_or(kUsualBuffer), 1};
      }
      break;
    case FixKind::cache:
      edit.cached.insert(stage_of(fix.iterator));
      break;
    case FixKind::filter_first: {
      for (const IteratorId input : host.iterators[fix.iterator].children) {
        edit.work_factor[stage_of(input)] = kept_share(host, fix.iterator);
      }
      break;
    }
    case FixKind::map_after:
      return move_after_filter(fix.iterator, model, edit);
    case FixKind::skip_first:
      return skip_before_maps(fix.iterator, model, edit);
    case FixKind::split_cache:
      return split_and_cache(fix.iterator, model, edit);
    case FixKind::files: {
      const std::int64_t threads = calls_of(fix, model, edit);
      edit.cuts[stage_of(fix.iterator)] = {Cut::Kind::interleave, threads, threads};
      break;
    }
    case FixKind::vectorize:
      edit.vectorized[stage_of(fix.iterator)] = batch_above(host, fix.iterator);
      break;
    case FixKind::threadpool:
      edit.pool_threads = fix.parallelism.value_or(2 * model.sample().cores);
      break;
    case FixKind::buffer:
      edit.buffer[stage_of(fix.iterator)] = fix.parallelism.value_or(kAutotunedBuffer);
      break;
    case FixKind::unordered:
      edit.unordered.insert(stage_of(fix.iterator));
      break;
    case FixKind::free:
      edit.free.insert(stage_of(fix.iterator));
      break;
    case FixKind::none:
      break;
  }
}

Edit edit_for(std::span<const Fix> fixes, const PipelineModel& model, Edit edit) {
  // The size of the pool decides what AUTOTUNE comes to, so it is set first.
  for (const Fix& fix : fixes) {
    if (fix.kind == FixKind::threadpool) apply(fix, model, edit);
  }
  for (const Fix& fix : fixes) apply(fix, model, edit);
  return edit;
}

}  // namespace doctor
