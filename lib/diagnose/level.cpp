#include <cmath>
#include <numbers>

#include "base/time.h"
#include "diagnose/judgement_passes.h"

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

/// The most that is left where the window shows the pipeline's start, and that alone would make the job input-bound:
/// what is slow at the start may be slow again, in every epoch or with every large batch.
constexpr double kDoubtOfSlowStart = 0.65;

/// What is left where the whole run decides, of which the trace shows little.
constexpr double kDoubtOfOtherSteps = 0.6;

/// Without its longest call, a job leaves open on which side of the limit it is if the probability of being above is at
/// least this: a third, as for a verdict at all.
constexpr double kLeavesOpen = 0.33;

/// Student's distribution function. Exact for 1 and 2 degrees of freedom, else the normal approximation of Wallace
/// (1959), which is off by less than 0.01.
double student(double t, std::size_t degrees) {
  if (degrees <= 1) return 0.5 + std::atan(t) / std::numbers::pi;
  if (degrees == 2) return 0.5 + t / (2 * std::sqrt(2 + t * t));
  const auto freedom = static_cast<double>(degrees);
  const double z = (8 * freedom + 1) / (8 * freedom + 3) * std::sqrt(freedom * std::log1p(t * t / freedom));
  return 0.5 * std::erfc((t < 0 ? z : -z) / std::numbers::sqrt2);
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

/// Whether the longest call, which alone decides nothing, tips the scales: without it the other calls leave open on
/// which side of the limit the share is, with it the job is more likely input-bound than not.
bool is_tipped_by_one_call(const PipelineMeasurement& pipeline, const ThresholdValues& thresholds) {
  const double limit = thresholds["min_share"];
  if (pipeline.judged_trimmed_cadence().share >= limit || pipeline.judged_cadence().share < limit) return false;
  const Sides sides = sides_of(pipeline, limit);
  return sides.trimmed >= kLeavesOpen && sides.either() > 0.5;
}

/// By `min_share` and `min_mild_share`.
InputLevel level_of_share(double share, const ThresholdValues& thresholds) {
  if (share >= thresholds["min_share"]) return InputLevel::bound;
  return share >= thresholds["min_mild_share"] ? InputLevel::mild : InputLevel::not_bound;
}

/// The probability that more calls would lead to the same level, 0..1. A single slow call may be an outlier, so the
/// share must be on one side with it and without it, unless the other calls leave the side open.
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

}  // namespace

bool makes_steps(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  return std::all_of(host.pipelines.begin(), host.pipelines.end(), [&](const PipelineMeasurement& other) {
    return &other == &pipeline || other.calls.size() < pipeline.calls.size();
  });
}

void judge_level(const PipelineEvidence& evidence, PipelineJudgement& judgement) {
  if (evidence.pipeline.calls.empty()) return;
  const double all = evidence.pipeline.judged_cadence().share;
  const double robust =
      is_tipped_by_one_call(evidence.pipeline, evidence.thresholds) ? all : evidence.pipeline.input_share();
  judgement.level = level_of_share(robust, evidence.thresholds);
  judgement.sets_call_aside = judgement.level != level_of_share(all, evidence.thresholds);
  judgement.input_share = judgement.sets_call_aside ? robust : all;
  if (to_microseconds(evidence.pipeline.trimmed_mean) <= evidence.thresholds["min_latency"])
    judgement.level = InputLevel::not_bound;
  judgement.confidence.side =
      confidence_in_side(evidence.pipeline, judgement.level == InputLevel::bound, evidence.thresholds);
  judgement.doubt = doubt_about_share(evidence.pipeline, evidence.thresholds["min_share"]);
}

void follow_whole_run(const PipelineEvidence& evidence, PipelineJudgement& judgement) {
  if (!evidence.host.recording.whole_run || judgement.level == InputLevel::unknown ||
      !makes_steps(evidence.host, evidence.pipeline))
    return;
  const WholeRun& run = *evidence.host.recording.whole_run;
  judgement.whole_run = run;
  const InputLevel level = level_of_share(run.wait_share, evidence.thresholds);
  const bool is_other_side = (level == InputLevel::bound) != (judgement.level == InputLevel::bound);
  const bool differs = std::abs(run.wait_share - run.recorded_wait_share) >= evidence.thresholds["min_other_share"];
  // A clock that sees the recorded steps otherwise than the trace does is not to be trusted with the others.
  const InputLevel recorded = level_of_share(run.recorded_wait_share, evidence.thresholds);
  const bool agrees = (recorded == InputLevel::bound) == (judgement.level == InputLevel::bound);
  if (!is_other_side || !differs || !agrees) return;
  judgement.follows_whole_run = true;
  judgement.confidence.side = 1;
  judgement.confidence.run = kDoubtOfOtherSteps;
  judgement.level = level;
  judgement.input_share = run.wait_share;
  judgement.sets_call_aside = false;
}

// Not std::hypot: shares do not overflow, and glibc 2.35 made it a symbol that older systems lack (scripts/wheel).
double with_drift(double error) {
  return std::sqrt(error * error + kDrift * kDrift);
}

double probability_above(double estimate, double error, std::size_t observations, double limit) {
  const double distance = estimate - limit;
  if (error <= 0) return distance > 0 ? 1 : distance < 0 ? 0 : 0.5;
  return student(distance / error, observations > 1 ? observations - 1 : 1);
}

}  // namespace doctor
