#include "model/pipeline_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// A replay that is slower than the trace by more than this is corrected, if the cores were in use; one that is faster
/// by more than the other, too. Chosen: rates of one program differ by as much from run to run.
constexpr double kSlower = 0.98;
constexpr double kFaster = 1.1;
/// Durations contain the time for which a thread was kept off its core, so on a full machine they are too long. Shares
/// of the cores, chosen.
constexpr double kCoresInUseIfSlower = 0.7;
constexpr double kCoresInUseIfFaster = 0.35;
/// Of the durations: beyond, the model is of another pipeline.
constexpr double kLowestScale = 0.3;
constexpr double kHighestScale = 1.6;
/// Each costs a replay; five find the scale to 4 %.
constexpr int kHalvings = 5;

double busy_workers(const PipelineModel& model, StageIndex stage) {
  const Stage& of = model.sample().stages[stage];
  if (!of.is_async) return 1;
  const double parallelism = static_cast<double>(model.host->iterators[stage].number("parallelism").value_or(1));
  return std::clamp(parallelism, 1.0, static_cast<double>(std::max<std::int64_t>(1, model.sample().pool_threads)));
}

/// In us.
double length_of(const ConsumerStep& step) {
  return to_microseconds(step.call.end - step.call.start) + step.gap;
}

/// Steps a second of the steps that a replay's rate is of, as measured; that of all where no times are known.
double rate_of_steps(const ConsumerCycles& consumer, const Replay& of) {
  double time = 0;
  for (std::size_t step = of.first_step; step < of.end_step; ++step) {
    time += length_of(consumer.steps[step % consumer.steps.size()]);
  }
  if (time <= 0 || consumer.waited == 0) return consumer.rate;
  return 1e6 * static_cast<double>(of.end_step - of.first_step) / time;
}

/// The rate that was measured of the steps that a replay's rate is of: a window has but a part of the last epoch, and a
/// replay that is cut off may have got to where the steps take longer, or less long, than on average.
double measured_rate(const ConsumerCycles& consumer, const Replay& of) {
  if (consumer.waited == 0) return consumer.made_rate.value_or(consumer.rate);
  const double rate = rate_of_steps(consumer, of);
  double whole = 0;
  for (const ConsumerStep& taken : consumer.steps) whole += length_of(taken);
  const double whole_rate = 1e6 * static_cast<double>(consumer.steps.size()) / whole;
  return consumer.made_rate ? rate * std::min(1.0, *consumer.made_rate / whole_rate) : rate;
}

/// A replay's rate over what was measured; 0 if one of them is unknown.
double fit_of(const ConsumerCycles& consumer, const Replay& replayed) {
  const double measured = measured_rate(consumer, replayed);
  return measured > 0 ? replayed.steps_per_s / measured : 0;
}

/// The measured rate of the steps that were replayed, as a part of the rate of the whole window, where they are much
/// slower: a sample may end in the one long call in which a shuffle fills its buffer. 1 elsewhere.
double part_of_rate(const HostMeasurement& host, const ConsumerCycles& consumer, const Replay& replayed) {
  constexpr double kSlow = 0.5;             // of the rate of the window: calls of one kind differ by less
  constexpr std::size_t kFewestCalls = 16;  // of fewer, those that took stored elements make up too much
  for (const PipelineMeasurement& pipeline : host.pipelines) {
    const std::vector<Interval>& calls = pipeline.calls;
    if (pipeline.root != consumer.root || calls.size() < kFewestCalls) continue;
    const double time = to_microseconds(calls.back().start - calls.front().start);
    const double part = rate_of_steps(consumer, replayed) * time / (1e6 * static_cast<double>(calls.size() - 1));
    return part < kSlow && part > 0 ? part : 1;
  }
  return 1;
}

/// Scales all work on cores until the replay fits, if the cores were in use; returns the replay.
Replay scale_cores(Programs& programs, const CycleSample& sample, Replay replayed, const ReplayLimits& limits) {
  const ConsumerCycles& consumer = sample.consumers.front();
  const auto fit_at = [&](double scale) {
    programs.cpu_scale = scale;
    replayed = replay(programs, limits);
    return fit_of(consumer, replayed);
  };
  const auto cores = static_cast<double>(sample.cores);
  const double in_use = replayed.cores_in_use / cores;
  const double fit = fit_of(consumer, replayed);
  const bool is_faster = fit > kFaster && std::max(in_use, sample.busy_cores / cores) > kCoresInUseIfFaster;
  const bool is_slower = fit < kSlower && in_use > kCoresInUseIfSlower;
  if (fit <= 0 || !(is_faster || is_slower)) return replayed;
  const double furthest = is_faster ? kHighestScale : kLowestScale;
  const double best = fit_at(furthest);
  const bool is_within_reach = is_faster ? best <= kFaster : best >= 1;
  if (!is_within_reach) return replayed;
  double low = std::min(1.0, furthest);
  double high = std::max(1.0, furthest);
  for (int step = 0; step < kHalvings; ++step) {
    const double middle = (low + high) / 2;
    (fit_at(middle) < 1 ? high : low) = middle;
  }
  fit_at(low);
  return replayed;
}

/// A consumer may dispatch its steps faster than its device makes them, or leave that to another thread.
void limit_by_device(const PipelineModel& model, double consumer_factor, Replay& replay) {
  const double most = model.most_of_device * consumer_factor;
  if (replay.steps_per_s <= most) return;
  replay.steps_per_s = most;
  replay.input_share = 0;
  replay.limited_by = {};
}

/// Of the steps that the replay of the trace is of where that was cut off, so that their rates can be compared.
Replay replay_edited(const PipelineModel& model, const Edit& edit, ReplayLimits limits) {
  limits.steps = model.steps;
  Programs programs = compile(*model.host, model.facts, edit, /*is_traced=*/false, &model.unchanged);
  programs.cpu_scale = model.cpu_scale;
  Replay after = replay(programs, limits);
  limit_by_device(model, edit.consumer_factor, after);
  return after;
}

/// Whether more room than this in the stage's buffer changes no replay: the usual one never filled it.
bool always_has_room(const Replay& now, StageIndex stage, std::int64_t room) {
  return std::any_of(now.never_full.begin(), now.never_full.end(),
                     [&](const auto& buffer) { return buffer.first == stage && buffer.second <= room; });
}

/// Whether so many threads of the pool change no replay: the usual one always had some left, and no other number
/// follows from theirs.
bool has_pool_enough(const PipelineModel& model, std::int64_t threads) {
  constexpr double kFarFromUsedUp = 0.8;  // nor are they named as the limit
  const std::int64_t now = model.sample().pool_threads;
  const std::vector<IteratorMeasurement>& iterators = model.host->iterators;
  return threads >= now && !model.now.is_pool_used_up &&
         model.now.pool_in_use < kFarFromUsedUp * static_cast<double>(now) &&
         std::none_of(iterators.begin(), iterators.end(),
                      [](const IteratorMeasurement& one) { return is_autotuned(one) == true; });
}

/// Whether a replay of the edit is that of the pipeline as it is, event by event.
bool changes_nothing(const PipelineModel& model, const Edit& edit) {
  if (edit.buffer.empty() == !edit.pool_threads) return false;
  Edit rest = edit;
  rest.buffer.clear();
  rest.pool_threads.reset();
  if (rest != Edit{}) return false;
  if (edit.pool_threads) return has_pool_enough(model, *edit.pool_threads);
  return std::all_of(edit.buffer.begin(), edit.buffer.end(),
                     [&](const auto& buffer) { return always_has_room(model.now, buffer.first, buffer.second); });
}

}  // namespace

double most_speedup(const PipelineModel& model, const Edit& edit) {
  // Threads that share cores take longer than their work, and a sample has more or fewer elements than steps took.
  // Source: the replays that the declaration names, of which none but those six needed more than 1.31.
  constexpr double kMargin = 1.35;
  constexpr double kAny = std::numeric_limits<double>::infinity();
  Edit rest = edit;
  rest.free.clear();
  rest.vectorized.clear();
  rest.work_factor.clear();
  if (rest != Edit{} || !model.exists()) return kAny;
  const auto work_of = [&](StageIndex stage) { return model.facts.work[stage] * model.facts.taken_per_made[stage]; };
  double saved = 0;
  for (const StageIndex stage : edit.free) saved += work_of(stage);
  for (const auto& [stage, count] : edit.vectorized) saved += work_of(stage) * (1 - 1 / std::max(1.0, count));
  for (const auto& [stage, factor] : edit.work_factor) saved += work_of(stage) * std::max(0.0, 1 - factor);
  const auto steps = static_cast<double>(model.sample().consumers.front().steps.size());
  const double time = 1e6 * steps / model.now.steps_per_s;
  const double share = kMargin * saved / time;
  return share < 1 ? 1 / (1 - share) : kAny;
}

Replay replay_after(const PipelineModel& model, const Edit& edit, const ReplayLimits& limits) {
  return limits == model.limits && changes_nothing(model, edit) ? model.now : replay_edited(model, edit, limits);
}

PipelineModel model_of(const HostMeasurement& host, const ReplayLimits& limits) {
  PipelineModel model;
  model.host = &host;
  const CycleSample& sample = host.cycles;
  if (sample.consumers.empty()) return model;
  const ConsumerCycles& consumer = sample.consumers.front();
  model.measured = consumer.rate;
  model.facts = facts_of(host, sample);
  Programs programs = compile(host, model.facts, {}, /*is_traced=*/true);
  const Replay replayed = scale_cores(programs, sample, replay(programs, limits), limits);
  model.cpu_scale = programs.cpu_scale;
  model.fit = fit_of(consumer, replayed);
  model.fit *= part_of_rate(host, consumer, replayed);
  model.replayed = replayed.steps_per_s;
  model.steps = replayed.is_cut_off ? replayed.end_step : 0;
  model.unchanged = compile(host, model.facts, {}, /*is_traced=*/false);
  model.unchanged.cpu_scale = model.cpu_scale;
  ReplayLimits limits_of_now = limits;
  limits_of_now.steps = model.steps;
  model.now = replay(model.unchanged, limits_of_now);
  if (consumer.device_step > 0 && consumer.rate > 0) {
    // Of what is replayed: a replay that is slower than the trace leaves its device idle for longer.
    const double part = std::min(1.0, model.now.steps_per_s / consumer.rate);
    model.most_of_device = 1e6 * part / consumer.device_step;
    model.most_of_kernels = 1e6 * part / consumer.computing;
    limit_by_device(model, 1, model.now);
  }
  model.limits = limits;
  return model;
}

double tracing_slowdown(const PipelineModel& model) {
  return model.replayed > 0 ? std::max(1.0, model.now.steps_per_s / model.replayed) : 1;
}

std::vector<StageLoad> stage_loads(const PipelineModel& model) {
  const std::vector<double>& work = model.facts.work;
  const double window = model.sample().window;
  std::vector<StageLoad> stages;
  for (StageIndex stage = 0; stage < work.size() && window > 0; ++stage) {
    const DatasetKind& kind = model.host->iterators[stage].kind();
    if (work[stage] > 0 && !kind.has(Trait::frame) && !kind.has(Trait::prefetch))
      stages.push_back({stage, work[stage] / window});
  }
  std::stable_sort(stages.begin(), stages.end(),
                   [](const StageLoad& a, const StageLoad& b) { return a.busy > b.busy; });
  return stages;
}

std::vector<StageGain> rank_stages(const PipelineModel& model, std::size_t most, const ReplayLimits& limits) {
  constexpr double kLeastWork = 0.005;  // of the time: gains less than shares of windows drift
  const auto is_clearly_less = [](double gain, double best) { return gain < std::min(0.9 * best, best - 0.02); };
  std::vector<StageLoad> loads = stage_loads(model);
  if (loads.size() > most) loads.resize(most);
  std::vector<StageGain> gains;
  std::map<IteratorId, double> best_of_pipeline;
  for (const StageLoad& load : loads) {
    if (load.busy < kLeastWork) break;
    Edit edit;
    edit.free.insert(load.stage);
    double& best_beside = best_of_pipeline[model.host->iterators[load.stage].root];
    if (is_clearly_less(most_speedup(model, edit) - 1, best_beside)) continue;
    gains.push_back({load.stage, replay_after(model, edit, limits).steps_per_s, load.busy});
    best_beside = std::max(best_beside, gains.back().gain(model));
  }
  std::stable_sort(gains.begin(), gains.end(),
                   [](const StageGain& a, const StageGain& b) { return a.steps_per_s > b.steps_per_s; });
  if (gains.empty()) return gains;
  const double best = gains.front().gain(model);
  const auto first_worse = std::find_if(gains.begin(), gains.end(),
                                        [&](const StageGain& gain) { return is_clearly_less(gain.gain(model), best); });
  std::stable_sort(gains.begin(), first_worse, [&](const StageGain& a, const StageGain& b) {
    return a.busy / busy_workers(model, a.stage) > b.busy / busy_workers(model, b.stage);
  });
  return gains;
}

}  // namespace doctor
