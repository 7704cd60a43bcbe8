#include "model/prediction.h"

#include <algorithm>
#include <cmath>

#include "measure/functions/function_types.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

// How far the truth may be from a replay. Source: pairs of recordings of one pipeline before and after a fix, and the
// same pipelines with a stage removed; see docs/whatif.md, "Accuracy".

/// Of every prediction: rates differ from run to run.
constexpr double kBetweenRuns = 0.09;
/// Of the part of the gain that is work of cores: they share memory, caches and, where they are threads of one core,
/// that core.
constexpr double kOfBusyCores = 0.12;
/// Of what the model does not reproduce.
constexpr double kOfMisfit = 0.5;
/// Copying elements into a batch is a matter of memory more than of cores.
constexpr double kOfCopies = 0.25;
/// Work that falls away, or is done in another order, changes what is left of it.
constexpr double kOfChangedWork = 0.2;

/// What recording may add to a step of the consumer, in us, beyond what the replay takes out: a cheap step is a good
/// deal shorter without it. Measured: 0 to 700.
constexpr double kOfTracedStep = 400;
constexpr double kMostOfTracedStep = 0.5;  // of the step: chosen, for steps that are cheap as they are
constexpr double kMicroseconds = 1e6;      // of a second

/// Whether a stage runs Python for an essential part of its functions.
bool runs_python(const PipelineModel& model, IteratorId iterator) {
  constexpr double kEssential = 0.3;  // of its CPU time. Chosen: less leaves a parallel map most of its gain
  const Stage& stage = model.sample().stages[index_of(iterator)];
  double python = stage.python;
  double cpu = stage.function_cpu;
  for (const FunctionCost& cost : stage.functions) {
    python += cost.python;
    cpu += cost.cpu;
  }
  return python > kEssential * (python + cpu);
}

/// Whether a fix lets functions in Python run at once.
bool parallelises_python(const PipelineModel& model, const Fix& fix) {
  if (fix.kind == FixKind::parallel_map) return runs_python(model, fix.iterator);
  if (fix.kind != FixKind::parallel_interleave) return false;
  const std::vector<IteratorId> below = model.host->iterators_below(fix.iterator);
  return std::any_of(below.begin(), below.end(), [&](IteratorId id) { return runs_python(model, id); });
}

/// Whether a fix lets generators in Python run at once. That Python's lock was free for others when they asked for it
/// does not tell one that sleeps from one that computes in NumPy, which lets go of it now and then: two of those in
/// place of one were 1.1 times as fast.
bool parallelises_generators(const PipelineModel& model, const Fix& fix) {
  const auto is_generator = [](const IteratorMeasurement& iterator) {
    return iterator.kind().source == Source::python && !iterator.is_device_hop;
  };
  return fix.kind == FixKind::parallel_interleave && model.host->first_below(fix.iterator, is_generator) != kNoIterator;
}

/// Whether it takes a free lock of Python for a fix to gain what a replay says.
bool needs_python_lock(const PipelineModel& model, const Fix& fix) {
  if (!parallelises_python(model, fix)) return false;
  const PythonLock lock = model.sample().python_lock;
  return lock == PythonLock::unknown || (lock == PythonLock::released && parallelises_generators(model, fix));
}

/// Whether a function mostly parses records: one call does that for a whole batch.
bool parses_records(const PipelineModel& model, IteratorId iterator) {
  const std::vector<FunctionOp>& ops = model.host->iterators[iterator].function_ops;
  return 2 * time_of(ops, is_parser) > time_of(ops);
}

Condition condition_of(const PipelineModel& model, const Fix& fix) {
  switch (fix.kind) {
    case FixKind::parallel_map:
    case FixKind::parallel_interleave:
      return needs_python_lock(model, fix) ? Condition::python_releases_lock : Condition::none;
    case FixKind::cache:
    case FixKind::split_cache:
      return Condition::fits_in_memory;
    case FixKind::files:
      return Condition::comes_from_files;
    case FixKind::vectorize:
      return parses_records(model, fix.iterator) ? Condition::none : Condition::runs_on_batches;
    case FixKind::filter_first:
    case FixKind::map_after:
      return Condition::does_not_need_map;
    default:
      return Condition::none;
  }
}

/// The part by which the rate may be lower or higher than the estimate.
struct Doubt {
  double low = kBetweenRuns;
  double high = kBetweenRuns;
};

Doubt doubt_of(const PipelineModel& model, std::span<const Fix> fixes, const Replay& after) {
  const auto cores = static_cast<double>(std::max<std::int64_t>(1, model.sample().cores));
  Doubt doubt;
  const double misfit = kOfMisfit * std::min(1.0, std::abs(model.fit - 1));
  doubt.low += misfit;
  doubt.high += misfit;
  const double busy = kOfBusyCores * std::min(1.0, after.cores_in_use / cores);
  doubt.low += busy;
  doubt.high += busy;
  if (after.limited_by.resource == Resource::consumer) {
    const double of_step = kOfTracedStep * after.steps_per_s / kMicroseconds;
    doubt.high += std::clamp(of_step - kBetweenRuns, 0.0, kMostOfTracedStep);
  }
  for (const Fix& fix : fixes) {
    if (fix.kind == FixKind::parallel_batch) doubt.low += kOfCopies;
    if (condition_of(model, fix) == Condition::none) continue;
    doubt.low += kOfChangedWork;
    doubt.high += kOfChangedWork;
  }
  return doubt;
}

/// Where the consumer limits the rate and a device works for it, the trace leaves open whether launching takes as long
/// where nothing is recorded, and whether the host does its part of a step while the device works.
void widen_for_device(const PipelineModel& model, double consumer_factor, Prediction& prediction) {
  const ConsumerCycles& consumer = model.sample().consumers.front();
  if (consumer.device_step > 0 && prediction.then_limited_by.resource == Resource::consumer) {
    double launching = 0;
    double on_host = 0;
    for (const ConsumerStep& step : consumer.steps) {
      launching += step.launching;
      on_host += step.gap - step.device - step.launching;
    }
    const double steps_at_once = consumer_factor * static_cast<double>(consumer.steps.size());
    prediction.low =
        std::min(prediction.low, kMicroseconds / (kMicroseconds / prediction.estimate + launching / steps_at_once));
    const double side_by_side =
        std::min(model.most_of_device * consumer_factor, kMicroseconds * steps_at_once / std::max(1.0, on_host));
    prediction.high = std::max(prediction.high, side_by_side * (1 + kBetweenRuns));
  }
  prediction.high = std::min(prediction.high, model.most_of_kernels * consumer_factor);
}

Prediction around(const PipelineModel& model, std::span<const Fix> fixes, const Edit& edit, const Replay& after) {
  const Doubt doubt = doubt_of(model, fixes, after);
  Prediction prediction;
  prediction.estimate = after.steps_per_s;
  prediction.low = after.steps_per_s * std::max(0.1, 1 - doubt.low);
  prediction.high = after.steps_per_s * (1 + doubt.high);
  prediction.then_limited_by = after.limited_by;
  prediction.input_share = after.input_share;
  widen_for_device(model, edit.consumer_factor, prediction);
  return prediction;
}

/// MB of one element of an iterator: of what the nearest buffer above it holds.
std::optional<double> element_megabytes(const HostMeasurement& host, IteratorId iterator) {
  std::vector<IteratorId> holders = host.iterators_above(iterator);
  holders.insert(holders.begin(), iterator);
  for (const IteratorId id : holders) {
    const IteratorMeasurement& holder = host.iterators[id];
    if (holder.number("batch_size").has_value() && id != iterator) return std::nullopt;  // elements of another size
    const std::int64_t megabytes = holder.number("buffered_bytes_MB").value_or(0);
    const std::int64_t elements = holder.number("buffered_elements").value_or(0);
    if (megabytes > 0 && elements > 0) return static_cast<double>(megabytes) / static_cast<double>(elements);
  }
  return std::nullopt;
}

std::optional<CacheOutlook> cache_outlook(const PipelineModel& model, std::span<const Fix> fixes) {
  std::optional<CacheOutlook> outlook;
  for (const Fix& fix : fixes) {
    if (fix.kind != FixKind::cache && fix.kind != FixKind::split_cache) continue;
    const bool ends = shows_epoch_end(*model.host, fix.iterator);
    if (!outlook) outlook = CacheOutlook{true, {}};
    outlook->saw_epoch_end = outlook->saw_epoch_end && ends;
    const IteratorMeasurement& iterator = model.host->iterators[fix.iterator];
    const std::optional<double> size = element_megabytes(*model.host, fix.iterator);
    if (!ends || !size) continue;
    const auto epochs = static_cast<double>(std::max<std::uint64_t>(1, iterator.epochs));
    outlook->megabytes = outlook->megabytes.value_or(0) + *size * static_cast<double>(iterator.calls) / epochs;
  }
  return outlook;
}

/// AUTOTUNE begins anew with each iterator, and may choose a single call for an interleave. Source: two files, read by
/// parallel interleaves that are made anew for each epoch: with four datasets at once 47 to 64 steps a second with TF
/// 2.21 as AUTOTUNE chose, 62 to 65 with four calls; 47 without any.
void widen_for_tuning(const PipelineModel& model, std::span<const Fix> fixes, Edit edit, const ReplayLimits& limits,
                      Prediction& prediction) {
  const ConsumerCycles& consumer = model.sample().consumers.front();
  bool is_tuned_anew = false;
  for (const Fix& fix : fixes) {
    if (fix.kind != FixKind::parallel_interleave || fix.parallelism) continue;
    const auto cut = edit.cuts.find(static_cast<StageIndex>(index_of(fix.iterator)));
    if (cut == edit.cuts.end()) continue;
    cut->second.parallelism = 1;
    is_tuned_anew = count_iterations(consumer) > 0;
  }
  if (!is_tuned_anew) return;
  const double with_one_call = replay_after(model, edit, limits).steps_per_s;
  prediction.low = std::min(prediction.low, with_one_call * (1 - kBetweenRuns));
}

/// Nothing of the map may come before its random ops, or nearly everything.
void widen_for_split(const PipelineModel& model, std::span<const Fix> fixes, Edit edit, const ReplayLimits& limits,
                     Prediction& prediction) {
  constexpr double kNearlyNothing = 0.05;  // of its work: what comes before the random ops may be nearly all
  for (const Fix& fix : fixes) {
    if (fix.kind == FixKind::split_cache)
      edit.work_factor[static_cast<StageIndex>(index_of(fix.iterator))] = kNearlyNothing;
  }
  prediction.low = std::min(prediction.low, model.now.steps_per_s * (1 - kBetweenRuns));
  prediction.high = std::max(prediction.high, replay_after(model, edit, limits).steps_per_s);
}

}  // namespace

bool shows_epoch_end(const HostMeasurement& host, IteratorId iterator) {
  const auto has_epochs = [](const IteratorMeasurement& one) { return one.epochs > 1; };
  if (has_epochs(host.iterators[iterator]) || host.first_below(iterator, has_epochs) != kNoIterator) return true;
  if (host.cycles.consumers.empty()) return false;
  const IteratorId root = host.iterators[iterator].root;
  const std::vector<ConsumerStep>& steps = host.cycles.consumers.front().steps;
  return std::any_of(steps.begin(), steps.end(),
                     [&](const ConsumerStep& step) { return step.begins_iteration && step.root == root; });
}

Prediction predict(const PipelineModel& model, std::span<const Fix> fixes, Edit edit, const ReplayLimits& limits) {
  bool runs_python_in_parallel = false;
  Condition condition = Condition::none;
  for (const Fix& fix : fixes) {
    runs_python_in_parallel |= parallelises_python(model, fix);
    if (condition == Condition::none) condition = condition_of(model, fix);
  }
  edit.functions_hold_python = runs_python_in_parallel && model.sample().python_lock == PythonLock::held;
  // The lock is one for all threads of an interleave: what runs in them takes as long as one after another.
  const auto is_interleave = [](const Fix& fix) { return fix.kind == FixKind::parallel_interleave; };
  if (edit.functions_hold_python && std::any_of(fixes.begin(), fixes.end(), is_interleave)) edit.cuts.clear();
  Replay after = replay_after(model, edit, limits);
  // More threads and larger buffers are never predicted to lose: what they cost is not in the model.
  const bool is_pool_smaller = edit.pool_threads && *edit.pool_threads < model.sample().pool_threads;
  const bool never_loses = !edit.changes_work() && edit.consumer_factor >= 1 && !edit.cores && !is_pool_smaller;
  if (never_loses && after.steps_per_s < model.now.steps_per_s) {
    after.steps_per_s = model.now.steps_per_s;
    after.limited_by = model.now.limited_by;
  }
  Prediction prediction = around(model, fixes, edit, after);
  prediction.condition = condition;
  prediction.cache = cache_outlook(model, fixes);
  if (std::any_of(fixes.begin(), fixes.end(), [](const Fix& fix) { return fix.kind == FixKind::split_cache; })) {
    widen_for_split(model, fixes, edit, limits, prediction);
  }
  widen_for_tuning(model, fixes, edit, limits, prediction);
  if (condition == Condition::python_releases_lock) {
    edit.functions_hold_python = true;
    const double held = std::min(model.now.steps_per_s, replay_after(model, edit, limits).steps_per_s);
    prediction.low = std::min(prediction.low, held * (1 - kBetweenRuns));
  }
  return prediction;
}

Prediction predict(const PipelineModel& model, std::span<const Fix> fixes, const ReplayLimits& limits) {
  return predict(model, fixes, edit_for(fixes, model), limits);
}

void limit_to(Prediction& prediction, const Prediction& without_input) {
  prediction.estimate = std::min(prediction.estimate, without_input.estimate);
  prediction.low = std::min(prediction.low, without_input.low);
  prediction.high = std::min(prediction.high, without_input.high);
}

Prediction predict_without_input(const PipelineModel& model, const ReplayLimits& limits) {
  Edit edit;
  edit.without_input = true;
  edit.functions_hold_python = model.sample().python_lock == PythonLock::held;
  Prediction prediction = around(model, {}, edit, replay_after(model, edit, limits));
  prediction.then_limited_by = {};
  return prediction;
}

}  // namespace doctor
