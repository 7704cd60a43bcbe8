// Numbers that decide what the verdict says are thresholds: on either side of them, and where the user moves them.

#include <doctest/doctest.h>

#include <cmath>

#include "diagnose/catalog.h"
#include "diagnose/diagnose.h"
#include "diagnose/judgement.h"
#include "measured_pipeline.h"

namespace doctor::verdict_thresholds_test {
namespace {

PipelineJudgement judged(const MeasuredPipeline& pipeline, const std::string& threshold, double value) {
  const Measurements measurements = pipeline.measurements();
  return judge(measurements, ThresholdValues(judgement_thresholds(), {{threshold, value}})).pipelines.at(0);
}

/// Two threads: the waits end at the batch on the consumer's; the map before the prefetch is at work for `busy` of the
/// time, the batch for `busy_of_batch`.
MeasuredPipeline two_threads(double busy, double busy_of_batch = 0) {
  MeasuredPipeline pipeline({"Root", "BatchV2", "Prefetch", "Map", "Range"});
  pipeline.waits_for("BatchV2").uses_cores(0.1, 4);
  const std::vector<Interval>& calls = pipeline.pipeline().calls;
  const auto time = static_cast<double>(calls.back().end - calls.front().start);
  pipeline["Map"].self = std::llround(busy * time);
  pipeline["BatchV2"].self = std::llround(busy_of_batch * time);
  return pipeline;
}

/// The waits end at a parallel map whose calls wait while nothing of its function runs.
MeasuredPipeline waiting_map(double busy_of_input) {
  MeasuredPipeline pipeline({"Root", "ParallelMapV2", "Map", "Range"});
  pipeline.waits_for("ParallelMapV2").uses_cores(0.1, 4).runs({{"Mul", 1}});
  PhaseMeasurement& steady = pipeline.pipeline().steady;
  steady.function_idle = steady.waited;
  const std::vector<Interval>& calls = pipeline.pipeline().calls;
  pipeline["Map"].self = std::llround(busy_of_input * static_cast<double>(calls.back().end - calls.front().start));
  return pipeline;
}

TEST_CASE("a busy thread takes the blame at its thresholds") {
  const IteratorId map = two_threads(0).id_of("Map");
  CHECK(judged(two_threads(0.81), "min_thread_share", 0.80).culprit == map);
  CHECK(judged(two_threads(0.79), "min_thread_share", 0.80).culprit != map);
  CHECK(judged(two_threads(0.79), "min_thread_share", 0.70).culprit == map);
  CHECK(judged(two_threads(0.95, 0.80), "min_thread_lead", 1.15).culprit == map);
  CHECK(judged(two_threads(0.90, 0.80), "min_thread_lead", 1.15).culprit != map);
  CHECK(judged(two_threads(0.90, 0.80), "min_thread_lead", 1.10).culprit == map);
  CHECK(judged(two_threads(0.60), "min_input_thread_share", 0.50).has_rival);
  CHECK_FALSE(judged(two_threads(0.60), "min_input_thread_share", 0.70).has_rival);
  const IteratorId input = waiting_map(0).id_of("Map");
  CHECK(judged(waiting_map(0.6), "min_input_thread_share", 0.50).culprit == input);
  CHECK(judged(waiting_map(0.4), "min_input_thread_share", 0.50).culprit != input);
  CHECK(judged(waiting_map(0.4), "min_input_thread_share", 0.30).culprit == input);
}

TEST_CASE("where nobody waits the culprit of the few waits needs its share of them") {
  MeasuredPipeline pipeline({"Root", "Prefetch", "Map", "Range"});
  pipeline.waits_for("Map", 0.4, 0.01).pipeline().busiest = pipeline.id_of("Range");
  CHECK(judged(pipeline, "min_culprit_share", 0.30).culprit == pipeline.id_of("Map"));
  CHECK(judged(pipeline, "min_culprit_share", 0.50).phase == Phase::background);
}

TEST_CASE("what limits the culprit follows the thresholds") {
  const auto map = [](double busy) {
    return MeasuredPipeline({"Root", "Prefetch", "Map", "Range"}).waits_for("Map").uses_cores(4 * busy, 4);
  };
  CHECK(judged(map(0.7), "cores_used_up", 0.80).limit.limit == Limit::unknown);
  CHECK(judged(map(0.7), "cores_used_up", 0.65).limit.limit == Limit::cores);
  CHECK(judged(map(0.7), "cores_idle", 0.75).limit.limit == Limit::thread);
  const MeasuredPipeline python = map(0.1).runs({{"EagerPyFunc", 10}, {"Mul", 90}});
  CHECK(judged(python, "max_python_share", 0.05).limit.limit == Limit::unknown);
  CHECK(judged(python, "max_python_share", 0.20).limit.limit == Limit::thread);
  const MeasuredPipeline files = map(0.1).runs({{"ReadFile", 40}, {"Mul", 60}});
  CHECK(judged(files, "min_file_share", 0.50).limit.limit == Limit::thread);
  CHECK(judged(files, "min_file_share", 0.30).limit.limit == Limit::outside);
}

TEST_CASE("a rule and the verdict decide by the same value") {
  const std::vector<Rule> rules = rules_of(rule_catalog());
  const Measurements measurements = MeasuredPipeline({"Root", "Prefetch", "ParallelMapV2", "Range"})
                                        .waits_for("ParallelMapV2")
                                        .uses_cores(2.8, 4)
                                        .measurements();
  const auto limit = [&](const ThresholdSettings& settings) {
    return diagnose(measurements, rules, settings).judgement.pipelines.at(0).limit.limit;
  };
  CHECK(limit({}) == Limit::unknown);
  CHECK(limit({{"cpu-saturated", {{"min_utilization", 0.65}}}}) == Limit::cores);
  CHECK(limit({{"low-parallelism", {{"max_utilization", 0.75}}}}) == Limit::calls);
}

TEST_CASE("every shared threshold belongs to one rule, with its value") {
  for (const Threshold& shared : shared_thresholds()) {
    CAPTURE(shared.name);
    std::size_t count = 0;
    for (const CatalogEntry& entry : rule_catalog()) {
      for (const Threshold& threshold : entry.rule.thresholds) {
        if (threshold.shared_as != shared.name) continue;
        ++count;
        CHECK(threshold.value == shared.value);
      }
    }
    CHECK(count == 1);
  }
}

}  // namespace
}  // namespace doctor::verdict_thresholds_test
