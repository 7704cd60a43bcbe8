// How sure a judgement is: what raises it, what lowers it, and where it is too little for a verdict.

#include <doctest/doctest.h>

#include "diagnose/judgement.h"
#include "diagnose/judgement_passes.h"
#include "measured_pipeline.h"
#include "words/doubt_words.h"

namespace doctor::confidence_test {
namespace {

struct Judged {
  Judgement judgement;
  PipelineJudgement pipeline;
};

Judged judged(const MeasuredPipeline& pipeline) {
  const Judgement judgement = judge(pipeline.measurements(), ThresholdValues(judgement_thresholds(), {}));
  return {judgement, judgement.pipelines.at(0)};
}

double confidence(const MeasuredPipeline& pipeline) {
  return judged(pipeline).pipeline.confidence.total();
}

MeasuredPipeline bound(double input_share = 0.8) {
  return MeasuredPipeline({"Root", "Prefetch", "BatchV2", "Map", "TFRecord"}).waits_for("Map", 0.95, input_share);
}

MeasuredPipeline with_calls(std::size_t calls, double input_share) {
  MeasuredPipeline pipeline = bound(input_share);
  pipeline.pipeline().steady.call_count = calls;
  pipeline.pipeline().cadence.beats = pipeline.pipeline().trimmed_cadence.beats = calls;
  return pipeline;
}

MeasuredPipeline with_error(double error, double input_share) {
  MeasuredPipeline pipeline = bound(input_share);
  pipeline.pipeline().cadence.error = pipeline.pipeline().trimmed_cadence.error = error;
  return pipeline;
}

std::string words_of(const Judged& judged) {
  return describe_doubt(judged.pipeline.doubt, {});
}

TEST_CASE("Student's t, against the tables") {
  struct Row {
    double t;
    std::size_t observations;
    double probability;
  };
  for (const Row& row : {Row{1, 2, 0.75}, Row{6.314, 2, 0.95}, Row{2.920, 3, 0.95}, Row{2.353, 4, 0.95},
                         Row{1.812, 11, 0.95}, Row{1.697, 31, 0.95}, Row{-2.920, 3, 0.05}, Row{0, 5, 0.5}}) {
    CAPTURE(row.t);
    CAPTURE(row.observations);
    CHECK(probability_above(10 + row.t, 1, row.observations, 10) == doctest::Approx(row.probability).epsilon(0.01));
  }
  CHECK(probability_above(2, 0, 5, 1) == 1);
  CHECK(probability_above(1, 0, 5, 2) == 0);
}

TEST_CASE("more calls, a clearer margin and calls that are alike raise the confidence") {
  for (const double share : {0.8, 0.05}) {
    CAPTURE(share);
    CHECK(confidence(with_calls(1, share)) < confidence(with_calls(3, share)));
    CHECK(confidence(with_calls(3, share)) < confidence(with_calls(8, share)));
    CHECK(confidence(with_calls(8, share)) < confidence(with_calls(100, share)));
    CHECK(confidence(with_calls(100, share)) > 0.9);
    CHECK(confidence(with_error(0.3, share)) < confidence(with_error(0.05, share)));
  }
  CHECK(confidence(bound(0.22)) < confidence(bound(0.3)));
  CHECK(confidence(bound(0.18)) < confidence(bound(0.1)));
}

TEST_CASE("what the trace hides lowers the confidence in a culprit, not in its absence") {
  MeasuredPipeline hidden = bound();
  hidden.waits_for("Map", 0.5).pipeline().steady.critical[IteratorId{0}] = 0;
  CHECK(confidence(hidden) == doctest::Approx(confidence(bound()) * 0.5).epsilon(0.01));

  MeasuredPipeline disputed = bound();
  disputed.pipeline().steady.culprits_of_halves[1] = disputed.id_of("BatchV2");
  CHECK(confidence(disputed) < 0.7);

  MeasuredPipeline close = bound();
  close.pipeline().steady.critical[IteratorId{0}] = 0;
  close.pipeline().steady.critical[close.id_of("BatchV2")] = close.pipeline().steady.critical[close.id_of("Map")];
  CHECK(confidence(close) < 0.7);

  MeasuredPipeline bare = bound();
  bare.pipeline().steady.culprit = kNoIterator;
  CHECK(confidence(bare) < 0.7);
  CHECK(judged(bare).judgement.status == VerdictStatus::input_bound);

  MeasuredPipeline healthy = bound(0.01);
  const double before = confidence(healthy);
  healthy.pipeline().steady.culprits_of_halves[1] = healthy.id_of("BatchV2");
  CHECK(confidence(healthy) == before);
}

TEST_CASE("where evidence is thin there is no verdict, but a reason") {
  const Judged single = judged(with_calls(1, 0.02));
  CHECK(single.judgement.status == VerdictStatus::inconclusive);
  CHECK(single.pipeline.level == InputLevel::unknown);
  CHECK(words_of(single) == "only 1 batch was recorded");

  MeasuredPipeline uneven = with_calls(4, 0.4);
  uneven.pipeline().cadence.error = 0.3;
  uneven.pipeline().trimmed_cadence.share = 0.02;
  const Judged differing = judged(uneven);
  CHECK(differing.judgement.status == VerdictStatus::inconclusive);
  CHECK(words_of(differing) ==
        "4 batches were recorded, and they differ: training waits between 9.9% and 70% of the time, and a job is "
        "input-bound from 20% on");
  uneven.pipeline().trimmed_cadence.without_call = 2;
  CHECK(words_of(judged(uneven)) ==
        "one batch of 4 decides the verdict: training waits 40% of the time, but 2.0% without the 10.0 ms of batch 3");

  MeasuredPipeline cut = bound();
  for (const IteratorId member : cut.pipeline().members) cut.pipeline().steady.critical[member] = 0;
  CHECK(words_of(judged(cut)) == "the recording does not show what 100% of the waiting was for");
}

TEST_CASE("one long call among many never makes a job input-bound, and healthy only with doubt") {
  for (const std::size_t calls : {4u, 30u, 300u}) {
    CAPTURE(calls);
    for (const double share : {0.1, 0.25, 0.5, 0.9}) {
      CAPTURE(share);
      MeasuredPipeline outlier = with_calls(calls, 0.02);
      outlier.pipeline().cadence.share = share;
      outlier.pipeline().cadence.error = share;
      outlier.pipeline().trimmed_cadence.without_call = 2;
      const Judged seen = judged(outlier);
      CHECK(seen.judgement.status != VerdictStatus::input_bound);
      if (share >= 0.2) CHECK(seen.judgement.confidence < 0.5);
      if (share < 0.2 && calls > 10) CHECK(seen.judgement.status == VerdictStatus::healthy);
      if (share >= 0.2) CHECK(seen.pipeline.sets_call_aside);
    }
  }
}

TEST_CASE("one long call tips the scales where the other calls leave the side open") {
  MeasuredPipeline open = with_calls(14, 0.18);
  open.pipeline().trimmed_cadence.error = 0.06;
  open.pipeline().trimmed_cadence.without_call = 2;
  open.pipeline().cadence.share = 0.35;
  open.pipeline().cadence.error = 0.13;
  const Judged tipped = judged(open);
  CHECK(tipped.judgement.status == VerdictStatus::input_bound);
  CHECK(tipped.pipeline.input_share == doctest::Approx(0.35));
  CHECK_FALSE(tipped.pipeline.sets_call_aside);
  CHECK(tipped.judgement.confidence < 0.7);
  CHECK(words_of(tipped).starts_with("one batch of 14 decides the verdict: "));

  open.pipeline().trimmed_cadence.share = 0.1;
  CHECK(judged(open).judgement.status != VerdictStatus::input_bound);
}

TEST_CASE("steps that are late beside a working input lower the confidence that it costs nothing") {
  MeasuredPipeline healthy = with_calls(100, 0.05);
  PipelineMeasurement& pipeline = healthy.pipeline();
  pipeline.cpu_budget = 2;
  pipeline.input_load = InputLoad{{0, kPicosecondsPerSecond}, kPicosecondsPerSecond, 0, 1};
  PipelineJudgement judgement = judged(healthy).pipeline;
  const ThresholdValues thresholds(judgement_thresholds(), {});
  const double sure = confidence_of({healthy.host(), pipeline, thresholds}, judgement).total();
  judgement.late_share = 0.15;
  judgement.confidence = confidence_of({healthy.host(), pipeline, thresholds}, judgement);
  CHECK(judgement.confidence.total() < 0.7 * sure);
  const Doubt weakest = weakest_part({healthy.host(), pipeline, thresholds}, judgement);
  REQUIRE(std::holds_alternative<doubts::LateSteps>(weakest));
  CHECK(std::get<doubts::LateSteps>(weakest).share == 0.15);
  pipeline.input_load->busy /= 100;
  CHECK(confidence_of({healthy.host(), pipeline, thresholds}, judgement).total() == sure);
}

TEST_CASE("what an input takes beside the waits is as sure as a model, and the reason speaks of no calls") {
  MeasuredPipeline healthy = with_calls(100, 0.05);
  PipelineJudgement judgement = judged(healthy).pipeline;
  judgement.level = InputLevel::bound;
  judgement.cost.takes = InputCost::Takes::cores;
  const ThresholdValues thresholds(judgement_thresholds(), {});
  const PipelineEvidence evidence{healthy.host(), healthy.pipeline(), thresholds};
  judgement.confidence = confidence_of(evidence, judgement);
  CHECK(judgement.confidence.total() < 0.7);
  CHECK(std::holds_alternative<doubts::OnlyModelled>(weakest_part(evidence, judgement)));
}

TEST_CASE("a share near the limit is a verdict where the calls are alike, whoever the culprit is") {
  MeasuredPipeline disputed = bound(0.3);
  disputed.pipeline().steady.culprits_of_halves[1] = disputed.id_of("BatchV2");
  disputed.pipeline().steady.critical[IteratorId{0}] = disputed.pipeline().steady.critical[disputed.id_of("Map")];
  const Judged seen = judged(disputed);
  CHECK(seen.judgement.status == VerdictStatus::input_bound);
  CHECK(seen.judgement.confidence < 0.33);
  CHECK(words_of(seen) == "in the 10 batches that were recorded, no part of the pipeline stands out as the slowest");
}

TEST_CASE("a loop that was clocked to be slow while it was recorded is not judged for sure") {
  for (const double share : {0.8, 0.02}) {
    CAPTURE(share);
    MeasuredPipeline recorded = bound(share);
    const double before = confidence(recorded);
    recorded.host().recording.slowdown = 1.4;  // rates differ as much from run to run
    CHECK(confidence(recorded) == before);
    recorded.host().recording.slowdown = 3;
    const Judged seen = judged(recorded);
    CHECK(seen.judgement.confidence == doctest::Approx(before / 3));
    CHECK(words_of(seen) == "recording slowed the job down: without it, steps would be about 3.0x as fast");
  }
}

TEST_CASE("a job that waited on a machine which others used is not judged for sure") {
  MeasuredPipeline shared = bound(0.8).uses_cores(1, 4);
  const double before = confidence(shared);
  shared.pipeline().cores_of_others = 0.9;
  CHECK(confidence(shared) == before);
  shared.pipeline().cores_of_others = 1.5;
  const Judged seen = judged(shared);
  CHECK(seen.judgement.confidence == doctest::Approx(0.7 * before));
  CHECK(words_of(seen) == "other programs kept 1.5 of the 4 cores busy");
  CHECK(remedy_of(seen.pipeline.doubt, {}).sentence == "Record again on an idle machine");
}

TEST_CASE("a Grain loop that takes fewer elements than its loader keeps ready is not judged for sure") {
  MeasuredPipeline grain = with_calls(100, 0.01);
  grain.pipeline().next_of = "Grain";
  grain.pipeline().calls.resize(100, {0, 1});
  const Judged seen = judged(grain);
  CHECK(seen.judgement.status == VerdictStatus::healthy);
  CHECK(seen.judgement.confidence < 0.7);
  CHECK(words_of(seen).starts_with("Grain keeps 500 elements ready"));
  grain.pipeline().calls.resize(500, {0, 1});
  CHECK(confidence(grain) > 0.7);
}

TEST_CASE("a window of twenty calls in which nobody waits is judged for sure") {
  CHECK(confidence(with_calls(20, 0.01)) >= 0.7);
  CHECK(confidence(with_calls(10, 0.01)) < 0.7);
}

/// Of 700 steps of the run, by the clock.
MeasuredPipeline in_a_run(double recorded, double whole) {
  MeasuredPipeline pipeline = bound(recorded);
  pipeline.pipeline().calls.resize(20, {0, 1});
  pipeline.host().recording.whole_run = WholeRun{700, whole, recorded, 51, 70};
  return pipeline;
}

TEST_CASE("the verdict follows the whole run where the recorded steps are unlike it") {
  const PipelineJudgement worse = judged(in_a_run(0.01, 0.5)).pipeline;
  CHECK(worse.level == InputLevel::bound);
  CHECK(worse.input_share == 0.5);
  CHECK(worse.confidence.total() < 0.7);
  CHECK(describe_doubt(worse.doubt, {}) ==
        "that is of all 700 steps; the recorded ones wait 1.0%, so the trace hardly shows why");
  CHECK(remedy_of(worse.doubt, {}).command == "python -m tfdata_doctor --batches 51-70 train.py");
  const PipelineJudgement better = judged(in_a_run(0.8, 0.04)).pipeline;
  CHECK(better.level == InputLevel::not_bound);
  CHECK(better.input_share == 0.04);
  for (const double whole : {0.7, 0.85}) {
    CAPTURE(whole);
    CHECK(judged(in_a_run(0.8, whole)).pipeline.input_share != whole);
  }
  const MeasuredPipeline pipeline = in_a_run(0.10, 0.25);
  const auto level_at = [&](double limit) {
    const Measurements measurements = pipeline.measurements();
    const ThresholdValues thresholds(judgement_thresholds(), {{"min_other_share", limit}});
    return judge(measurements, thresholds).pipelines.at(0).level;
  };
  CHECK(level_at(0.14) == InputLevel::bound);
  CHECK(level_at(0.16) != InputLevel::bound);
  // Near the limit, both are as good.
  CHECK(judged(in_a_run(0.18, 0.22)).pipeline.level == judged(bound(0.18)).pipeline.level);
}

TEST_CASE("a run without a stall makes sure that a window of few calls has not missed any") {
  MeasuredPipeline pipeline = with_calls(20, 0.01);
  const double alone = confidence(pipeline);
  pipeline.pipeline().calls.resize(20, {0, 1});
  pipeline.host().recording.whole_run = WholeRun{700, 0.01, 0.01, 51, 70};
  CHECK(confidence(pipeline) > alone);
}

/// Beside 700 other steps.
MeasuredPipeline beside_steps(double times_as_long, double recorded_share = 0.01) {
  MeasuredPipeline pipeline = with_calls(20, recorded_share);
  pipeline.pipeline().calls.resize(20, {0, 1});
  pipeline.host().recording.other_steps = OtherSteps{700, times_as_long, 51, 70};
  return pipeline;
}

TEST_CASE("a window does not show that the input keeps up where the other steps take longer") {
  const PipelineJudgement longer = judged(beside_steps(1.6)).pipeline;
  CHECK(longer.level == InputLevel::unknown);
  CHECK(describe_doubt(longer.doubt, {}) ==
        "the 700 steps that were not recorded took 1.6x as long as the recorded ones");
  CHECK(remedy_of(longer.doubt, {}).command == "python -m tfdata_doctor --batches 51-70 train.py");
  // A fifth of their time, which makes a job input-bound.
  CHECK(judged(beside_steps(1.26)).pipeline.level == InputLevel::unknown);
  CHECK(judged(beside_steps(1.24)).pipeline.level == InputLevel::not_bound);
  CHECK(judged(beside_steps(1.6, 0.8)).pipeline.level == InputLevel::bound);
}

/// A prefetch that gave 20 elements, of which `made` were made meanwhile.
MeasuredPipeline draining(std::uint64_t made, double input_share = 0.01) {
  MeasuredPipeline pipeline = with_calls(40, input_share);
  pipeline["Prefetch"].calls = 20;
  pipeline["BatchV2"].calls = made;
  return pipeline.sets("Prefetch", "buffer_limit", 64);
}

TEST_CASE("a window that lives on what a buffer held does not show that the input keeps up") {
  const PipelineJudgement drained = judged(draining(0)).pipeline;
  CHECK(drained.level == InputLevel::unknown);
  CHECK(describe_doubt(drained.doubt, {}) ==
        "20 of the 20 recorded batches were ready before the recording began, and only 0 were made meanwhile");
  CHECK(remedy_of(drained.doubt, {}).command == "python -m tfdata_doctor --batches 11-138 train.py");
  CHECK(judged(draining(9)).pipeline.level == InputLevel::unknown);
  CHECK(judged(draining(10)).pipeline.level == InputLevel::not_bound);
  CHECK(judged(draining(0, 0.8)).pipeline.level == InputLevel::bound);  // it waits all the same
  const MeasuredPipeline pipeline = draining(9);
  const Measurements measurements = pipeline.measurements();
  const ThresholdValues more(judgement_thresholds(), {{"max_stored_share", 0.6}});
  CHECK(judge(measurements, more).pipelines.at(0).level == InputLevel::not_bound);
}

TEST_CASE("an unsure pipeline that cost more than the others leaves the run without a verdict") {
  MeasuredPipeline two = bound(0.02);
  two.host().pipelines.push_back(with_calls(1, 0.02).pipeline());
  CHECK(judge(two.measurements(), ThresholdValues(judgement_thresholds(), {})).status == VerdictStatus::healthy);
  two.host().pipelines.back().total *= 2;
  CHECK(judge(two.measurements(), ThresholdValues(judgement_thresholds(), {})).status == VerdictStatus::inconclusive);
  two.pipeline() = bound().pipeline();
  CHECK(judge(two.measurements(), ThresholdValues(judgement_thresholds(), {})).status == VerdictStatus::input_bound);
}

}  // namespace
}  // namespace doctor::confidence_test
