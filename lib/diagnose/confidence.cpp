#include "diagnose/confidence.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/time.h"
#include "diagnose/cores.h"
#include "model/pipeline_model.h"

namespace doctor {
namespace {

/// A share drifts from window to window by more than the calls of one window show.
constexpr double kDrift = 0.03;

/// The error to assume of a share that rests on one call: anything is possible.
constexpr double kErrorOfOneCall = 0.15;
/// The same where the trace does not even show how long the step of that call took.
constexpr double kErrorWithoutCadence = 0.3;

/// The error to assume of a mean latency, as a share of the limit that it is compared with.
constexpr double kErrorOfLatency = 0.2;

/// One call more is worth little beyond this: 1.5 calls halve the doubt once, nine calls leave a seventh.
constexpr double kCallsOfHalfDoubt = 1.5;

/// What a step that the trace shows whole adds to its only call: how long the job takes for that element is known. So
/// one step is enough for a verdict, barely, where its share is far from the limit.
constexpr double kWorthOfWholeStep = 0.5;

/// The most that is left where the window shows the pipeline's start, and that alone would make the job input-bound:
/// what is slow at the start may be slow again, in every epoch or with every large batch.
constexpr double kDoubtOfSlowStart = 0.65;

/// What is left where the culprit was found by who keeps threads and cores busy.
constexpr double kDoubtOfIndirectCulprit = 0.85;

/// What is left where much Python in the input may hold the lock: a trace does not distinguish computing from sleeping.
constexpr double kDoubtOfPythonLock = 0.65;

/// Waits of less of the time are short, whatever share a user calls input-bound.
constexpr double kShortWaits = 0.05;
/// What is left where nobody waits for long and a model says that the input takes the cores, or Python's lock.
constexpr double kDoubtOfCost = 0.8;

/// The least that is left where steps are late beside a working input: they may be late for reasons of their own.
constexpr double kLeastOfLateSteps = 0.6;

constexpr double kDoubtOfRival = 0.85;  ///< the same where a stage below the culprit is as busy as it

/// Jobs that stall every 20 steps are common (a file, a large batch, a checkpoint). So many calls without a stall halve
/// the doubt that there is none: a window of 20 calls is just sure (0.7), one of ten is not.
constexpr double kCallsOfSeldomStall = 5;

/// Without its longest call, a job leaves open on which side of the limit it is if the probability of being above is at
/// least this: a third, as for a verdict at all.
constexpr double kLeavesOpen = 0.33;

constexpr double kDoubtOfHalves = 0.6;  ///< what is left where the halves of the trace name different culprits
constexpr double kDoubtOfOtherSteps =
    0.6;  ///< what is left where the whole run decides, of which the trace shows little
constexpr double kDoubtOfBusyMachine = 0.7;  ///< what is left where other programs keep many cores busy
/// Of the cores: so many kept busy by others leave it open what the job would wait for without them.
constexpr double kManyCoresOfOthers = 0.25;
constexpr double kDoubtWithoutCulprit =
    0.65;  ///< what is left where the job waits and the trace does not show for what

/// Elements that a Grain loader keeps ready, which a trace does not show. Source: the default of `prefetch_buffer_size`
/// in grain.ReadOptions (0.2.18).
constexpr std::size_t kKeptByGrain = 500;
/// What is left where no call waits and all elements may have been ready before the window.
constexpr double kDoubtOfKeptElements = 0.6;

bool may_live_on_kept_elements(const PipelineMeasurement& pipeline) {
  return pipeline.next_of == "Grain" && pipeline.calls.size() < kKeptByGrain;
}

/// Student's distribution function. Exact for 1 and 2 degrees of freedom, else the normal approximation of Wallace
/// (1959), which is off by less than 0.01.
double student(double t, std::size_t degrees) {
  if (degrees <= 1) return 0.5 + std::atan(t) / std::numbers::pi;
  if (degrees == 2) return 0.5 + t / (2 * std::sqrt(2 + t * t));
  const auto freedom = static_cast<double>(degrees);
  const double z = (8 * freedom + 1) / (8 * freedom + 3) * std::sqrt(freedom * std::log1p(t * t / freedom));
  return 0.5 * std::erfc((t < 0 ? z : -z) / std::numbers::sqrt2);
}

/// Not std::hypot: shares do not overflow, and glibc 2.35 made it a symbol that older systems lack (scripts/wheel).
double with_drift(double error) {
  return std::sqrt(error * error + kDrift * kDrift);
}

double probability_of_more(const PipelineMeasurement& pipeline, const CadenceShare& cadence, double limit) {
  double error = with_drift(cadence.error);
  if (cadence.beats < 2) error = pipeline.has_cadence ? kErrorOfOneCall : kErrorWithoutCadence;
  return probability_above(cadence.share, error, cadence.beats, limit);
}

/// The share of the time that is waited, warm-up included.
double share_with_warmup(const PipelineMeasurement& pipeline) {
  const std::size_t first = pipeline.warmup_count;
  if (first == 0 || first >= pipeline.calls.size()) return pipeline.judged_cadence().share;
  const auto warmup = static_cast<double>(pipeline.calls[first].start - pipeline.calls.front().start);
  const auto steady = static_cast<double>(pipeline.calls.back().end - pipeline.calls[first].start);
  const double waited = static_cast<double>(pipeline.warmup.waited) + steady * pipeline.judged_cadence().share;
  return waited / std::max(warmup + steady, 1.0);
}

/// That the share is above the limit, without the longest call and with it.
struct Sides {
  double trimmed = 0;
  double untrimmed = 0;

  /// The call may be an outlier, and may as well be what the job is like: one is as likely as the other.
  double either() const { return (trimmed + untrimmed) / 2; }
};

Sides sides_of(const PipelineMeasurement& pipeline, double limit) {
  return {probability_of_more(pipeline, pipeline.judged_trimmed_cadence(), limit),
          probability_of_more(pipeline, pipeline.judged_cadence(), limit)};
}

/// A single slow call may be an outlier, so both shares must be on one side, unless the other calls leave the side
/// open.
double confidence_in_side(const PipelineMeasurement& pipeline, bool is_bound, const ThresholdValues& thresholds) {
  const auto [trimmed, untrimmed] = sides_of(pipeline, thresholds["min_share"]);
  const double limit = thresholds["min_latency"];
  const double latency =
      probability_above(to_microseconds(pipeline.trimmed_mean), kErrorOfLatency * limit, pipeline.cadence.beats, limit);
  const bool stalls_again = pipeline.stalls && pipeline.stalls->are_recurring;
  if (is_bound && is_tipped_by_one_call(pipeline, thresholds)) {
    return std::min(Sides{trimmed, untrimmed}.either(), latency);
  }
  if (is_bound) return std::min({stalls_again ? 1.0 : trimmed, untrimmed, latency});
  // Calls that are short but take a large share of short steps are judged by their latency.
  if (pipeline.input_share() >= thresholds["min_share"]) return 1 - latency;
  const double side = 1 - std::max(trimmed, untrimmed);
  const bool starts_slowly = share_with_warmup(pipeline) >= thresholds["min_share"];
  return starts_slowly ? std::min(side, kDoubtOfSlowStart) : side;
}

/// The share of the waits in which the walk ends at somebody's work, not at a hand-over or the edge of the window.
double explained_share(const PhaseMeasurement& phase) {
  if (phase.waited <= 0 || phase.culprit == kNoIterator) return 1;
  Picoseconds explained = 0;
  for (const auto& [iterator, time] : phase.critical.entries()) explained += time;
  return static_cast<double>(explained) / static_cast<double>(phase.waited);
}

/// 1 where the second holds at most half of what the culprit holds, a half where the two hold the same.
double confidence_in_lead(const ByIterator<Picoseconds>& critical, IteratorId culprit) {
  Picoseconds second = 0;
  for (const auto& [iterator, time] : critical.entries()) {
    if (iterator != culprit) second = std::max(second, time);
  }
  const auto first = static_cast<double>(std::max<Picoseconds>(critical[index_of(culprit)], 1));
  return std::clamp(1.5 - static_cast<double>(second) / first, 0.5, 1.0);
}

double confidence_in_culprit(const PhaseMeasurement& phase, IteratorId culprit) {
  if (culprit == kNoIterator || phase.critical.entries().empty()) return kDoubtWithoutCulprit;
  const auto [first, second] = phase.culprits_of_halves;
  const bool halves_agree = first == second || first == kNoIterator || second == kNoIterator;
  return confidence_in_lead(phase.critical, culprit) * (halves_agree ? 1 : kDoubtOfHalves);
}

/// Whether one call puts the share on the other side of the limit, or the calls differ too much to decide the side.
Doubt doubt_about_share(const PipelineMeasurement& pipeline, double min_share) {
  const CadenceShare& all = pipeline.judged_cadence();
  const CadenceShare& without = pipeline.judged_trimmed_cadence();
  const std::size_t calls = pipeline.steady.call_count;
  if (without.without_call && without.share < min_share && all.share >= min_share) {
    const Interval call = pipeline.calls[*without.without_call];
    return doubts::OneCallDecides{calls, all.share, without.share, call.end - call.start, *without.without_call + 1};
  }
  if (const double share = share_with_warmup(pipeline); all.share < min_share && share >= min_share) {
    return doubts::SlowStart{share, all.share};
  }
  return doubts::NearLimit{calls, all.share, with_drift(all.error), min_share};
}

/// Whether the input keeps so much of the cores busy that it may make the training loop wait for one.
bool may_delay_steps(const PipelineMeasurement& pipeline, const ThresholdValues& thresholds) {
  const std::optional<CoresInUse> cores = cores_in_use(pipeline);
  return cores && cores->of_input >= thresholds["min_cores_taken"];
}

/// That steps which are late beside a working input are not so by its doing, to an amount that makes the job
/// input-bound together with the waits.
double confidence_in_steps(const PipelineMeasurement& pipeline, const PipelineJudgement& judgement,
                           const ThresholdValues& thresholds) {
  if (!may_delay_steps(pipeline, thresholds)) return 1;
  const CadenceShare& waited = pipeline.judged_cadence();
  const auto is_below = [&](double share) {
    return 1 - probability_above(share, with_drift(waited.error), waited.beats, thresholds["min_share"]);
  };
  const double without_delays = is_below(waited.share);
  return without_delays > 0 ? is_below(waited.share + judgement.late_share) / without_delays : 1;
}

/// On a host whose own cores train, an input that nobody waits for may cost steps all the same: at most the part of the
/// cores that it keeps busy while all of them are in use.
double confidence_in_cores(const PipelineMeasurement& pipeline, const ThresholdValues& thresholds) {
  const std::optional<CoresInUse> cores = cores_in_use(pipeline);
  if (!pipeline.input_load) return 1;
  const double taken = cores && cores->all >= thresholds["cores_missing"] ? cores->of_input : 0;
  const double lock = pipeline.input_load->python_share() > thresholds["much_python"] ? kDoubtOfPythonLock : 1;
  return std::min(1 - taken, lock);
}

Doubt doubt_about_load(const PipelineMeasurement& pipeline, const PipelineJudgement& judgement,
                       const ThresholdValues& thresholds) {
  if (confidence_in_steps(pipeline, judgement, thresholds) < confidence_in_cores(pipeline, thresholds)) {
    return doubts::LateSteps{judgement.late_share};
  }
  const CoresInUse cores = cores_in_use(pipeline).value_or(CoresInUse{});
  if (cores.all < thresholds["cores_missing"]) return doubts::PythonLock{pipeline.input_load->python_share()};
  return doubts::CoresInUse{cores.of_input * static_cast<double>(*pipeline.cpu_budget), *pipeline.cpu_budget};
}

bool shares_machine(const PipelineMeasurement& pipeline) {
  const auto cores = static_cast<double>(pipeline.cpu_budget.value_or(0));
  return cores > 0 && pipeline.cores_of_others >= kManyCoresOfOthers * cores;
}

}  // namespace

Doubt weakest_part(const PipelineMeasurement& pipeline, const PipelineJudgement& judgement,
                   const ThresholdValues& thresholds) {
  const Confidence& confidence = judgement.confidence;
  const double of_level = std::min({confidence.side, confidence.calls, confidence.coverage});
  const double of_rest =
      std::min({confidence.culprit, confidence.load, confidence.window, confidence.tracing, confidence.machine});
  if (judgement.follows_whole_run) {
    const WholeRun& run = *judgement.whole_run;
    return doubts::WholeRunDecides{run.steps, run.recorded_wait_share, run.worst_first, run.worst_last};
  }
  const std::size_t calls = pipeline.steady.call_count;
  const bool has_level = confidence.in_level() >= thresholds["min_confidence"];
  if (has_level && pipeline.is_one_step) return doubts::OneStep{};
  if (has_level && of_rest < of_level) {
    if (of_rest == confidence.tracing) return doubts::SlowedByTracing{1 / confidence.tracing};
    if (of_rest == confidence.machine) return doubts::BusyMachine{pipeline.cores_of_others, *pipeline.cpu_budget};
    if (of_rest == confidence.load) return doubt_about_load(pipeline, judgement, thresholds);
    if (of_rest == confidence.culprit) return doubts::NoLeader{calls};
    if (may_live_on_kept_elements(pipeline)) return doubts::KeptElements{kKeptByGrain};
    return doubts::SeldomStall{calls};
  }
  if (of_level == confidence.calls) return doubts::FewCalls{calls, pipeline.has_cadence};
  if (of_level == confidence.coverage) return doubts::OutsideTrace{1 - confidence.coverage};
  if (judgement.cost.takes != InputCost::Takes::nothing) return doubts::OnlyModelled{};
  return doubt_about_share(pipeline, thresholds["min_share"]);
}

bool is_tipped_by_one_call(const PipelineMeasurement& pipeline, const ThresholdValues& thresholds) {
  const double limit = thresholds["min_share"];
  if (pipeline.judged_trimmed_cadence().share >= limit || pipeline.judged_cadence().share < limit) return false;
  const Sides sides = sides_of(pipeline, limit);
  return sides.trimmed >= kLeavesOpen && sides.either() > 0.5;
}

double probability_above(double estimate, double error, std::size_t observations, double limit) {
  const double distance = estimate - limit;
  if (error <= 0) return distance > 0 ? 1 : distance < 0 ? 0 : 0.5;
  return student(distance / error, observations > 1 ? observations - 1 : 1);
}

Confidence confidence_of(const PipelineMeasurement& pipeline, const PipelineJudgement& judgement,
                         const ThresholdValues& thresholds) {
  Confidence confidence;
  if (judgement.slowdown_by_tracing > kDistortion) confidence.tracing = 1 / judgement.slowdown_by_tracing;
  const bool is_bound = judgement.level == InputLevel::bound;
  confidence.side = judgement.follows_whole_run ? 1 : confidence_in_side(pipeline, is_bound, thresholds);
  if (judgement.follows_whole_run) confidence.run = kDoubtOfOtherSteps;
  const double calls = static_cast<double>(pipeline.steady.call_count) + (pipeline.is_one_step ? kWorthOfWholeStep : 0);
  confidence.calls = calls / (calls + kCallsOfHalfDoubt);
  if (!is_bound) {
    confidence.load = std::min(confidence_in_cores(pipeline, thresholds),
                               std::max(kLeastOfLateSteps, confidence_in_steps(pipeline, judgement, thresholds)));
    // What is said of one step is not said of others.
    const double seen = std::max(calls, judgement.whole_run ? static_cast<double>(judgement.whole_run->steps) : 0.0);
    confidence.window = pipeline.is_one_step ? 1 : seen / (seen + kCallsOfSeldomStall);
    if (may_live_on_kept_elements(pipeline)) confidence.window = std::min(confidence.window, kDoubtOfKeptElements);
    return confidence;
  }
  if (shares_machine(pipeline)) confidence.machine = kDoubtOfBusyMachine;
  const bool is_costly = judgement.cost.takes != InputCost::Takes::nothing;
  if (is_costly) confidence.side = kDoubtOfCost;
  // Waits that are short are mostly what calls cost: no part of them that the window hides could hold the job up.
  const bool hides_nothing = is_costly || judgement.follows_whole_run || judgement.input_share < kShortWaits;
  confidence.coverage = hides_nothing ? 1 : std::min(1.0, explained_share(pipeline.steady));
  confidence.culprit = !sets_pace(judgement) && !is_costly ? confidence_in_culprit(pipeline.steady, judgement.culprit)
                                                           : kDoubtOfIndirectCulprit;
  if (judgement.has_rival) confidence.culprit *= kDoubtOfRival;
  return confidence;
}

}  // namespace doctor
