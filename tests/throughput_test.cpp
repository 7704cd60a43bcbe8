#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "built_paths.h"
#include "diagnose/catalog.h"
#include "diagnose/diagnose.h"
#include "diagnose/judgement.h"
#include "diagnose/judgement_passes.h"
#include "measured_pipeline.h"
#include "pipeline.h"
#include "timed_pipeline.h"
#include "words/throughput_words.h"

namespace doctor::throughput_test {
namespace {

/// A training and its input on one core: nobody waits for long, but each takes its turn.
class SharedCore {
 public:
  explicit SharedCore(double cores_of_input = 0.5) : pipeline_(10, 10) {
    HostMeasurement& host = pipeline_.host();
    host.cycles.cores = 1;
    host.cycles.busy_cores = 1;
    for (ConsumerStep& step : host.cycles.consumers.front().steps) step.busy = step.core_time = step.gap;
    host.cycles.consumers.front().rate = 50;
    measured_.root = IteratorId{0};
    measured_.cpu_budget = 1;
    constexpr Picoseconds kSecond = kPicosecondsPerSecond;
    const auto busy = static_cast<Picoseconds>(cores_of_input * static_cast<double>(kSecond));
    measured_.input_load = InputLoad{{0, kSecond}, busy, 0, 1};
  }

  InputCost cost(const ThresholdSettings& settings = {}, double waited = 0) {
    Throughput throughput(pipeline_.host());
    const ThresholdValues thresholds = values_in_force("input-bound", judgement_thresholds(), settings);
    return find_input_cost({pipeline_.host(), measured_, thresholds, &throughput}, waited);
  }
  PipelineMeasurement& measured() { return measured_; }
  HostMeasurement& host() { return pipeline_.host(); }

 private:
  TimedPipeline pipeline_;
  PipelineMeasurement measured_;
};

TEST_CASE("an input that takes the cores of the training costs it steps, whoever waits") {
  const InputCost cost = SharedCore().cost();
  CHECK(cost.takes == InputCost::Takes::cores);
  CHECK(cost.speedup_without_input > 1.8);
  CHECK(cost.speedup_without_input < 2.2);
}

TEST_CASE("min_cores_taken decides how much the input must take") {
  CHECK(SharedCore(0.05).cost().takes == InputCost::Takes::nothing);
  CHECK(SharedCore(0.05).cost({{"input-bound", {{"min_cores_taken", 0.04}}}}).takes == InputCost::Takes::cores);
  CHECK(SharedCore(0.5).cost({{"input-bound", {{"min_cores_taken", 0.6}}}}).takes == InputCost::Takes::nothing);
}

// Half of the time would be saved: a share is held against a share.
TEST_CASE("min_share is obeyed by what the input costs") {
  CHECK(SharedCore().cost({{"input-bound", {{"min_share", 0.45}}}}).takes == InputCost::Takes::cores);
  CHECK(SharedCore().cost({{"input-bound", {{"min_share", 0.55}}}}).takes == InputCost::Takes::nothing);
}

TEST_CASE("what the training gains because it no longer waits is no cost of cores") {
  CHECK(SharedCore().cost({}, 0.2).takes == InputCost::Takes::cores);
  CHECK(SharedCore().cost({}, 0.3).takes == InputCost::Takes::nothing);
}

TEST_CASE("what is left of the cores costs nothing") {
  SharedCore idle;
  idle.measured().input_load->busy_threads = 0.5;
  CHECK(idle.cost().takes == InputCost::Takes::nothing);
}

TEST_CASE("a Python function that holds the lock costs steps without using up the cores") {
  SharedCore pipeline;
  pipeline.measured().input_load->busy_threads = 0.5;
  pipeline.measured().input_load->python = kPicosecondsPerSecond * 9 / 10;
  pipeline.host().cycles.python_beside_consumer = 0.9;
  CHECK(pipeline.cost().takes == InputCost::Takes::nothing);
  pipeline.host().cycles.python_lock = PythonLock::held;
  CHECK(pipeline.cost().takes == InputCost::Takes::python_lock);
}

TEST_CASE("without a model that reproduces the rate nothing is said to cost steps") {
  SharedCore pipeline;
  pipeline.host().cycles.consumers.front().rate = 500;
  CHECK(pipeline.cost().takes == InputCost::Takes::nothing);
}

TEST_CASE("steps that are late beside the usual ones are the loop's own time, ops left out") {
  TimedPipeline pipeline(2, 10);
  std::vector<ConsumerStep>& steps = pipeline.host().cycles.consumers.front().steps;
  CHECK(Throughput(pipeline.host()).late_share() == 0);
  for (std::size_t step = 0; step < steps.size(); step += 2) steps[step].gap += 5000;
  CHECK(Throughput(pipeline.host()).late_share() == doctest::Approx(0.2).epsilon(0.01));
  for (std::size_t step = 0; step < steps.size(); step += 2) steps[step].busy += 5000;
  CHECK(Throughput(pipeline.host()).late_share() == 0);
}

Diagnosis diagnosis_of(const std::string& trace, const ThresholdSettings& thresholds = {}) {
  const std::string file = source_dir() + "/testdata/traces/" + trace;
  return diagnose_files(std::vector<std::string>{file}, {.rules = all_rules(), .thresholds = thresholds}).diagnosis;
}

const Finding* find(const Diagnosis& diagnosis, std::string_view rule) {
  for (const Finding& finding : diagnosis.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

constexpr const char* kTrace = "sequential_map_tf2.4.trace.json.gz";

TEST_CASE("advice says what it brings") {
  const Diagnosis diagnosis = diagnosis_of(kTrace);
  const Finding* const finding = find(diagnosis, "sequential-map");
  REQUIRE(finding != nullptr);
  REQUIRE_FALSE(finding->advice.empty());
  REQUIRE(finding->advice.front().gain);
  const Gain& gain = *finding->advice.front().gain;
  CHECK(gain.factor() > 1.1);
  CHECK(gain.low() < gain.factor());
  CHECK(gain.factor() < gain.high());
}

TEST_CASE("advice that brings less than min_gain is not given") {
  const Diagnosis diagnosis = diagnosis_of(kTrace, {{"input-bound", {{"min_gain", 1000}}}});
  const Finding* const finding = find(diagnosis, "sequential-map");
  REQUIRE(finding != nullptr);
  CHECK(finding->advice.empty());
  CHECK_FALSE(finding->without_gain.empty());
}

TEST_CASE("findings whose gains are known are in the order of the gains") {
  for (const char* trace : {kTrace, "guide_naive.xplane.pb", "filter_first_three_calls_tf2.21.xprof.trace.json.gz"}) {
    CAPTURE(trace);
    const Gain* last = nullptr;
    const Diagnosis diagnosis = diagnosis_of(trace);
    for (const Finding& finding : diagnosis.findings) {
      if (finding.severity != Severity::warning || finding.advice.empty() || !finding.advice.front().gain) continue;
      const Gain& gain = *finding.advice.front().gain;
      if (last != nullptr) CHECK_FALSE(brings_more(gain, *last));
      last = &gain;
    }
  }
}

TEST_CASE("of very many findings the first get predicted gains") {
  const std::string file = source_dir() + "/testdata/traces/" + kTrace;
  const Analysis analysis = diagnose_files(std::vector<std::string>{file}, {.rules = all_rules()});
  const Finding* const finding = find(analysis.diagnosis, "sequential-map");
  REQUIRE(finding != nullptr);
  std::vector<Finding> findings(1000, *finding);
  for (Finding& copy : findings) copy.advice.front().gain.reset();
  Throughputs throughputs(analysis.measurements.hosts.begin(), analysis.measurements.hosts.end());
  predict_gains(throughputs, analysis.diagnosis.judgement, 0, findings);
  const auto predicted = std::count_if(findings.begin(), findings.end(),
                                       [](const Finding& one) { return one.advice.front().gain.has_value(); });
  CHECK(predicted > 0);
  CHECK(predicted <= 128);
  CHECK(findings.front().advice.front().gain);
}

TEST_CASE("gains in words") {
  Gain gain;
  gain.now = 12;
  gain.then.estimate = 23;
  gain.then.low = 19;
  gain.then.high = 24;
  CHECK(describe_gain(gain) == "12 -> 23 steps/s, 1.9x (1.6x to 2.0x)");
  gain.then.condition = Condition::fits_in_memory;
  CHECK(describe_gain(gain) == "12 -> 23 steps/s, 1.9x (1.6x to 2.0x), from the 2nd epoch on, if it fits in memory");
  const GainWords second = words_of(gain, 20);
  CHECK(second.before + second.after + second.rest ==
        "20 -> 23 steps/s, 1.15x, from the 2nd epoch on, if it fits in memory");
  CHECK(format_factor(1.04) == "1.04x");
  CHECK(format_factor(35.3) == "35x");
  CHECK(format_steps_per_s(0.5) == "0.50");
  CHECK(format_steps_per_s(7457.9) == "7,458");
}

TEST_CASE("where no model tells gains, the rates are those of the recorded steps") {
  MeasuredPipeline pipeline({"Root", "Prefetch", "Map", "Range"});
  pipeline.waits_for("Map", 0.9, 0.75);
  const auto judged_at = [&](double slowdown) {
    pipeline.host().recording.slowdown = slowdown;
    const Measurements measurements = pipeline.measurements();
    Throughputs throughputs(measurements.hosts.begin(), measurements.hosts.end());
    return judge(measurements, ThresholdValues(judgement_thresholds(), {}), throughputs).pipelines.front();
  };
  const PipelineJudgement judged = judged_at(1);
  CHECK(judged.has_recorded_rates);
  CHECK(judged.steps_per_s > 0);
  CHECK(judged.steps_per_s_without_input == doctest::Approx(4 * judged.steps_per_s));
  const PipelineJudgement slowed = judged_at(1.5);
  CHECK(slowed.has_clocked_rate);
  CHECK(slowed.steps_per_s == doctest::Approx(1.5 * judged.steps_per_s));
  CHECK(slowed.steps_per_s_without_input == judged.steps_per_s_without_input);
  CHECK_FALSE(judged_at(5).has_clocked_rate);  // faster than without any wait
}

}  // namespace
}  // namespace doctor::throughput_test
