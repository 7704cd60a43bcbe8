// Why a rule fired or did not: what it asked is what decided.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "built_paths.h"
#include "diagnose/catalog.h"
#include "measured_pipeline.h"
#include "pipeline.h"
#include "report/rule_pages.h"
#include "unwrapped.h"

namespace doctor::explanation_test {
namespace {

const Rule& rule_named(std::span<const Rule> rules, std::string_view id) {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.id == id; });
  REQUIRE(found != rules.end());
  return *found;
}

struct Explained {
  std::span<const Rule> rules = all_rules();
  Measurements measurements;
  Diagnosis diagnosis;

  explicit Explained(const MeasuredPipeline& pipeline)
      : measurements(pipeline.measurements()), diagnosis(diagnose(measurements, rules, {})) {}

  std::string text(std::string_view rule) const {
    return render_explanation_text(rule_named(rules, rule), measurements, diagnosis, {});
  }
  nlohmann::json json(std::string_view rule) const {
    return nlohmann::json::parse(to_text(explanation_json(rule_named(rules, rule), measurements, diagnosis)));
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

MeasuredPipeline parallel_map(double utilization) {
  MeasuredPipeline pipeline = MeasuredPipeline({"Root", "Prefetch", "BatchV2", "ParallelMapV2", "TFRecord"})
                                  .waits_for("ParallelMapV2")
                                  .uses_cores(utilization * 4, 4);
  pipeline.host().threads = {"consumer", "worker \x1b[31m"};
  pipeline.pipeline().slowest = 3;
  pipeline["ParallelMapV2"].longest_call = {{kPicosecondsPerMillisecond, 4 * kPicosecondsPerMillisecond}, LaneId{1}};
  return pipeline;
}

TEST_CASE("a rule that fires shows its numbers against the thresholds, and where they come from") {
  const Explained explained(parallel_map(0.1));
  const std::string text = unwrapped(explained.text("low-parallelism"));
  CHECK(contains(text, "low-parallelism FIRES"));
  CHECK(contains(text, "cpu_utilization 10% is at most 55% (max_utilization)"));
  CHECK(contains(text, "GetNext call 4 of 10, the longest: 10.0 ms from 60.0 ms on, thread consumer"));
  CHECK(contains(text, "its longest call: 3.00 ms from 1.00 ms on, thread worker \\x1b[31m"));
  CHECK_FALSE(contains(text, "nearest"));

  const nlohmann::json page = explained.json("low-parallelism");
  CHECK(page["schema"] == "tfdata-doctor.explanation/1");
  CHECK(page["outcome"] == "fired");
  const nlohmann::json& question = page["inquiries"][0]["questions"].back();
  CHECK(question["measured"] == "cpu_utilization");
  CHECK(question["value"].get<double>() == doctest::Approx(0.1));
  CHECK(question["relation"] == "at_most");
  CHECK(question["limit"] == 0.55);
  CHECK(question["holds"] == true);
  CHECK(page["inquiries"][0]["seen"][0]["thread"] == "consumer");
  CHECK(page["inquiries"][0]["seen"][0]["start_us"] == 60'000);
}

TEST_CASE("a silent rule shows the threshold that kept it from firing") {
  const Explained explained(parallel_map(0.7));
  const std::string text = unwrapped(explained.text("low-parallelism"));
  CHECK(contains(text, "low-parallelism IS SILENT"));
  CHECK(contains(text, "No cpu_utilization 70% is above 55% (max_utilization)"));
  CHECK(contains(text, "Nearest cpu_utilization is 70%, and the threshold max_utilization is 55%"));
  CHECK(explained.json("low-parallelism")["outcome"] == "silent");
  CHECK(contains(unwrapped(explained.text("cpu-saturated")), "cpu_utilization 70% is below 80% (min_utilization)"));
  CHECK(contains(unwrapped(explained.text("slow-source")), "No the culprit, Dataset.map, is a source"));
}

TEST_CASE("missing evidence is named") {
  MeasuredPipeline pipeline = parallel_map(0.5);
  pipeline.pipeline().cpu_budget.reset();
  pipeline.host().compute_threads = 3;
  const Explained explained(pipeline);
  CHECK(contains(unwrapped(explained.text("low-parallelism")), "low-parallelism CANNOT BE EVALUATED"));
  CHECK(contains(unwrapped(explained.text("low-parallelism")),
                 "Missing the trace does not say how many cores tf.data may use (at least 3 threads seen)"));
  CHECK(explained.json("low-parallelism")["outcome"] == "not_evaluated");
}

TEST_CASE("of several silent pipelines the one that came closest is named") {
  MeasuredPipeline pipeline = parallel_map(0.9);
  pipeline.host().pipelines.push_back(pipeline.pipeline());
  pipeline.host().pipelines.back().steady.busy_threads = 2.4;
  pipeline.host().pipelines.push_back(pipeline.pipeline());
  pipeline.host().pipelines.back().cadence.share = pipeline.host().pipelines.back().trimmed_cadence.share = 0.01;
  const Explained explained(pipeline);
  CHECK(contains(unwrapped(explained.text("low-parallelism")), "Nearest cpu_utilization is 60%"));
}

TEST_CASE("on real traces every answer follows from what was asked") {
  const std::span<const Rule> rules = all_rules();
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() + "/testdata/traces")) {
    const std::string path = entry.path().string();
    if (path.ends_with(".expected.json")) continue;
    CAPTURE(path);
    const Analysis analysis = diagnose_files(std::vector<std::string>{path}, {.rules = rules});
    const Diagnosis& diagnosis = analysis.diagnosis;
    REQUIRE(diagnosis.inquiries.size() == rules.size());
    for (const RuleInquiries& asked : diagnosis.inquiries) {
      CAPTURE(asked.rule);
      const auto is_of_rule = [&](const auto& said) { return said.rule == asked.rule; };
      const bool fired = std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), is_of_rule);
      const bool is_missing = std::any_of(diagnosis.not_evaluated.begin(), diagnosis.not_evaluated.end(), is_of_rule);
      const RuleOutcome expected = fired        ? RuleOutcome::fired
                                   : is_missing ? RuleOutcome::not_evaluated
                                                : RuleOutcome::silent;
      CHECK(outcome_of(asked.inquiries) == expected);
      for (const Inquiry& inquiry : asked.inquiries) {
        if (outcome_of(inquiry) == RuleOutcome::silent) CHECK(deciding_question(inquiry) != nullptr);
      }
    }
  }
}

}  // namespace
}  // namespace doctor::explanation_test
