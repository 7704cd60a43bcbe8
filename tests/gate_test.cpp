// Budgets and suppressions on diagnoses made by hand: what is exceeded, what cannot be evaluated, what does not count.

#include <doctest/doctest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "diagnose/budgets.h"
#include "measured_pipeline.h"
#include "report/report.h"
#include "unwrapped.h"

namespace doctor::gate_test {
namespace {

using Json = nlohmann::ordered_json;

/// A run of two pipelines: the first waits 80% of the time, the second 5%, each call 10 ms; with findings.
struct Run {
  Measurements measurements;
  Diagnosis diagnosis;

  Run() {
    add(MeasuredPipeline({"Root", "Prefetch", "Shuffle", "Map"}).waits_for("Map"));
    add(MeasuredPipeline({"Root", "Prefetch", "Batch", "TFRecord"}).waits_for("TFRecord", 0.9, 0.05));
    diagnosis = diagnose(measurements, {}, {});
    diagnosis.judgement.status = VerdictStatus::input_bound;
    for (PipelineJudgement& judged : diagnosis.judgement.pipelines) judged.level = InputLevel::bound;
    add_finding("slow-transformation", "Iterator::Root::Prefetch::Shuffle::Map");
    add_finding("slow-source", "Iterator::Root::Prefetch::Batch::TFRecord");
    diagnosis.not_evaluated.push_back({"tensor-cores-unused", "the trace shows no kernel"});
  }

  void add(const MeasuredPipeline& pipeline) {
    measurements.hosts.push_back(pipeline.measurements().hosts.front());
    measurements.hosts.back().pipelines.front().p95 = 12 * kPicosecondsPerMillisecond;
  }
  void add_finding(const std::string& rule, const std::string& subject) {
    Finding finding;
    finding.rule = rule;
    finding.subject = subject;
    finding.message = rule + " is seen";
    diagnosis.findings.push_back(finding);
  }

  std::vector<BudgetResult> check(const std::vector<Budget>& budgets) const {
    return check_budgets(measurements, diagnosis, budgets);
  }
};

Budget share(double limit, const std::string& pipeline = {}) {
  return {BudgetKind::input_share, pipeline, limit, {}, "test"};
}
Budget p95(double limit, const std::string& pipeline = {}) {
  return {BudgetKind::get_next_p95, pipeline, limit, {}, "test"};
}
Budget forbid(const std::string& rule, const std::string& pipeline = {}) {
  return {BudgetKind::forbidden_rule, pipeline, 0, rule, "test"};
}

Suppression suppression_of(const std::string& rule, const std::string& subject = {},
                           std::optional<std::chrono::year_month_day> expires = std::nullopt) {
  return {rule, subject, "known", expires, "test"};
}

}  // namespace

TEST_CASE("patterns fit whole texts") {
  struct Case {
    std::string_view pattern, text;
    bool fits;
  };
  const std::vector<Case> cases = {
      {"", "", true},
      {"", "a", false},
      {"*", "", true},
      {"*", "Iterator::Root", true},
      {"Iterator::*", "Iterator::Root::Map", true},
      {"*::Map", "Iterator::Root::Map", true},
      {"*::Map", "Iterator::Root::Map::Batch", false},
      {"*::Map*", "Iterator::Root::Map::Batch", true},
      {"*ab", "aab", true},
      {"*ab*ab", "abxabab", true},
      {"a?c", "abc", true},
      {"a?c", "ac", false},
      {"?", "", false},
      {"**a**", "bab", true},
      {"Iterator::Root[0]", "Iterator::Root[0]", true},
      {"a", "A", false},
  };
  for (const Case& test : cases) {
    CAPTURE(test.pattern);
    CAPTURE(test.text);
    CHECK(matches_glob(test.pattern, test.text) == test.fits);
  }
  // Exponential if every star were tried again.
  std::string stars;
  for (int count = 0; count < 30; ++count) stars += "*a";
  CHECK_FALSE(matches_glob(stars + "b", std::string(10'000, 'a')));
}

TEST_CASE("a budget is exceeded above its limit, in each pipeline by itself") {
  const Run run;
  const std::vector<BudgetResult> results = run.check({share(0.1)});
  REQUIRE(results.size() == 2);
  CHECK(results[0].value == doctest::Approx(0.8));
  CHECK(results[0].is_exceeded());
  CHECK(results[1].value == doctest::Approx(0.05));
  CHECK_FALSE(results[1].is_exceeded());
  CHECK(outcome_of(results) == BudgetOutcome::exceeded);
  CHECK(outcome_of(run.check({share(0.9)})) == BudgetOutcome::met);
  const std::vector<BudgetResult> times = run.check({p95(12'000)});
  REQUIRE(times.size() == 2);
  CHECK(times[0].value == doctest::Approx(12'000));
  CHECK_FALSE(times[0].is_exceeded());
  CHECK(outcome_of(run.check({p95(11'999)})) == BudgetOutcome::exceeded);
  CHECK(run.check({}).empty());
  CHECK(outcome_of(std::vector<BudgetResult>{}) == BudgetOutcome::met);
}

TEST_CASE("a budget that names pipelines takes the place of the general one, and a later one that of an earlier") {
  const Run run;
  CHECK(outcome_of(run.check({share(0.1), share(0.9, "*::Shuffle*")})) == BudgetOutcome::met);
  CHECK(outcome_of(run.check({share(0.9, "*::Shuffle*"), share(0.1)})) == BudgetOutcome::met);
  CHECK(outcome_of(run.check({share(0.1), share(0.9, "host:*::Shuffle::*")})) == BudgetOutcome::met);
  CHECK(outcome_of(run.check({share(0.1), share(0.9)})) == BudgetOutcome::met);
  CHECK(outcome_of(run.check({share(0.9), share(0.1)})) == BudgetOutcome::exceeded);
  const std::vector<BudgetResult> results = run.check({share(0.01, "*::TFRecord")});
  REQUIRE(results.size() == 1);
  CHECK(results[0].is_exceeded());
  CHECK(results[0].value == doctest::Approx(0.05));
  // A general one that is left with no pipeline is no reason to fail.
  CHECK(outcome_of(run.check({share(0.0), share(1, "*")})) == BudgetOutcome::met);
}

TEST_CASE("a budget that cannot be evaluated anywhere is no pass") {
  Run run;
  const std::vector<BudgetResult> results = run.check({share(0.9), share(0.1, "device:*")});
  REQUIRE(results.size() == 3);
  CHECK_FALSE(results[2].value);
  CHECK(why_not_evaluated(results[2], run.measurements) == "no pipeline of the trace fits 'device:*'");
  CHECK(outcome_of(results) == BudgetOutcome::unknown);
  // What is exceeded elsewhere is certain.
  CHECK(outcome_of(run.check({share(0.1), share(0.1, "device:*")})) == BudgetOutcome::exceeded);

  run.diagnosis.judgement.pipelines[0].level = InputLevel::unknown;
  run.diagnosis.judgement.pipelines[0].doubt = doubts::FewCalls{2, true};
  CHECK(why_not_evaluated(run.check({share(0.9)})[0], run.measurements) == "only 2 batches were recorded");
  CHECK(outcome_of(run.check({share(0.9)})) == BudgetOutcome::met);
  run.diagnosis.judgement.pipelines[1].level = InputLevel::unknown;
  CHECK(outcome_of(run.check({share(0.9)})) == BudgetOutcome::unknown);
  CHECK(outcome_of(run.check({p95(1e9)})) == BudgetOutcome::unknown);

  const std::vector<BudgetResult> nothing = check_budgets({}, {}, std::vector<Budget>{share(1)});
  REQUIRE(nothing.size() == 1);
  CHECK(nothing[0].because == NotEvaluatedBecause::no_calls);
}

TEST_CASE("what only feeds another pipeline has a budget only by its name") {
  Run run;
  run.measurements.hosts[0].pipelines[0].feeds_another = true;
  CHECK(outcome_of(run.check({share(0.1)})) == BudgetOutcome::met);
  CHECK(outcome_of(run.check({share(0.1, "*::Shuffle")})) == BudgetOutcome::exceeded);
}

TEST_CASE("a rule that must not fire is one that was looked at") {
  Run run;
  CHECK(outcome_of(run.check({forbid("slow-source")})) == BudgetOutcome::exceeded);
  CHECK(outcome_of(run.check({forbid("python-function")})) == BudgetOutcome::met);
  const std::vector<BudgetResult> unseen = run.check({forbid("tensor-cores-unused")});
  REQUIRE(unseen.size() == 1);
  CHECK(why_not_evaluated(unseen[0], run.measurements) == "the trace shows no kernel");
  CHECK(outcome_of(unseen) == BudgetOutcome::unknown);
  CHECK(outcome_of(run.check({forbid("slow-source", "*::Shuffle*")})) == BudgetOutcome::met);
  CHECK(outcome_of(run.check({forbid("slow-source", "*::TFRecord")})) == BudgetOutcome::exceeded);
  CHECK(outcome_of(run.check({forbid("slow-source", "device:*")})) == BudgetOutcome::unknown);
  suppress(run.diagnosis.findings, std::vector<Suppression>{suppression_of("slow-source")},
           std::chrono::year(2026) / 1 / 1);
  CHECK(outcome_of(run.check({forbid("slow-source")})) == BudgetOutcome::met);
}

TEST_CASE("a finding without a subject belongs to the pipelines that its rule asked about") {
  Run run;
  run.add_finding("input-bound", "");
  Inquiry inquiry;
  inquiry.pipeline = 1;
  inquiry.has_finding = true;
  run.diagnosis.inquiries.push_back({"input-bound", {inquiry}});
  CHECK(outcome_of(run.check({forbid("input-bound", "*::Shuffle*")})) == BudgetOutcome::met);
  CHECK(outcome_of(run.check({forbid("input-bound", "*::TFRecord")})) == BudgetOutcome::exceeded);
  run.diagnosis.inquiries.back().inquiries[0].pipeline.reset();
  CHECK(outcome_of(run.check({forbid("input-bound", "*::Shuffle*")})) == BudgetOutcome::exceeded);
}

TEST_CASE("suppressions fit by rule and subject until they expire") {
  const auto today = std::chrono::year(2026) / 6 / 15;
  struct Case {
    Suppression suppression;
    std::size_t suppressed, expired, unused;
  };
  const std::vector<Case> cases = {
      {suppression_of("slow-source"), 1, 0, 0},
      {suppression_of("slow-source", "*::TFRecord"), 1, 0, 0},
      {suppression_of("slow-source", "*::Map"), 0, 0, 1},
      {suppression_of("cpu-saturated"), 0, 0, 1},
      {suppression_of("slow-source", {}, std::chrono::year(2026) / 6 / 15), 1, 0, 0},
      {suppression_of("slow-source", {}, std::chrono::year(2026) / 6 / 14), 0, 1, 0},
      {suppression_of("slow-source", {}, std::chrono::year(2025) / 12 / 31), 0, 1, 0},
      {suppression_of("slow-source", {}, std::chrono::year(2027) / 1 / 1), 1, 0, 0},
  };
  for (const Case& test : cases) {
    CAPTURE(test.suppression.rule);
    CAPTURE(test.suppression.subject);
    Run run;
    const IdleSuppressions idle = suppress(run.diagnosis.findings, std::vector<Suppression>{test.suppression}, today);
    const std::size_t counting = findings_that_count(run.diagnosis.findings).size();
    CHECK(run.diagnosis.findings.size() - counting == test.suppressed);
    CHECK(idle.expired.size() == test.expired);
    CHECK(idle.unused.size() == test.unused);
  }
  // Both are used, the first is named.
  Run run;
  Suppression second = suppression_of("slow-source");
  second.reason = "again";
  const IdleSuppressions idle =
      suppress(run.diagnosis.findings, std::vector<Suppression>{suppression_of("slow-source"), second}, today);
  CHECK(idle.unused.empty());
  CHECK(run.diagnosis.findings[1].suppressed->reason == "known");
}

TEST_CASE("a budget is kept only with the confidence that a gate needs, and exceeded with any") {
  Run run;
  for (PipelineJudgement& judged : run.diagnosis.judgement.pipelines) {
    judged.confidence = {.side = 1, .calls = 0.19};
    judged.doubt = doubts::FewCalls{2, true};
  }
  const std::vector<BudgetResult> results = run.check({share(0.5)});
  REQUIRE(results.size() == 2);
  CHECK(results[0].is_exceeded());  // 80%
  CHECK_FALSE(results[1].value);    // 5%
  CHECK(why_not_evaluated(results[1], run.measurements) ==
        "this trace keeps to it, but proves little (confidence 0.19, and a budget needs 0.20): only 2 batches were "
        "recorded");
  CHECK(outcome_of(run.check({share(0.9)})) == BudgetOutcome::unknown);
  CHECK(outcome_of(run.check({p95(1e6)})) == BudgetOutcome::unknown);
  for (PipelineJudgement& judged : run.diagnosis.judgement.pipelines) judged.confidence.calls = 0.2;
  CHECK(outcome_of(run.check({share(0.9)})) == BudgetOutcome::met);
}

TEST_CASE("where one call out of all proportion decides, a budget is not kept") {
  /// Ten calls of 1 ms, of which the fifth takes `times` as long. It alone makes the consumer wait for `share`.
  struct Case {
    const char* name;
    Picoseconds times;
    double share;
    Budget budget;
    BudgetOutcome outcome;
  };
  for (const Case& one : std::vector<Case>{
           {"a time that is wrong, or a stall", 1000, 0.9, share(0.1), BudgetOutcome::unknown},
           {"of the rest, too", 1000, 0.9, p95(5000), BudgetOutcome::unknown},
           {"and of rules", 1000, 0.9, forbid("slow-source"), BudgetOutcome::unknown},
           {"a slow call, as in healthy jobs", 19, 0.15, share(0.1), BudgetOutcome::met},
           {"the steps are longer still", 1000, 0.09, share(0.1), BudgetOutcome::met},
           {"so much is allowed", 1000, 0.9, share(0.95), BudgetOutcome::met},
       }) {
    CAPTURE(one.name);
    MeasuredPipeline pipeline({"Root", "Prefetch", "Batch", "TFRecord"});
    pipeline.waits_for("TFRecord", 0.9, 0.01).pipeline().cadence.share = one.share;
    pipeline.pipeline().trimmed_cadence.without_call = 4;
    for (Interval& call : pipeline.pipeline().calls) call.end = call.start + kPicosecondsPerMillisecond;
    pipeline.pipeline().p95 = kPicosecondsPerMillisecond;
    pipeline.pipeline().calls[4].end = pipeline.pipeline().calls[4].start + one.times * kPicosecondsPerMillisecond;
    const Measurements measurements = pipeline.measurements();
    Diagnosis diagnosis = diagnose(measurements, {}, {});
    diagnosis.judgement.pipelines[0].level = InputLevel::not_bound;
    diagnosis.judgement.pipelines[0].confidence = {.side = 1, .calls = 1};
    const std::vector<BudgetResult> results = check_budgets(measurements, diagnosis, std::vector{one.budget});
    CHECK(outcome_of(results) == one.outcome);
    if (one.outcome == BudgetOutcome::met) continue;
    CHECK(describe_budget(measurements, diagnosis.judgement, results[0])
              .ends_with(
                  "is not evaluated: one batch of 10 decides the verdict: training waits 90% of the time, but 1.0% "
                  "without the 1.00 s of batch 5. Record 50 or more"));
  }
}

TEST_CASE("reports tell budgets and suppressions, and advise nothing about what is suppressed") {
  Run run;
  const std::string before = render_text(run.measurements, run.diagnosis, {});
  CHECK(before.find("Budget") == std::string::npos);
  CHECK(before.find("Accept") == std::string::npos);
  CHECK_FALSE(Json::parse(render_json(run.measurements, run.diagnosis)).contains("budgets"));

  suppress(run.diagnosis.findings,
           std::vector<Suppression>{suppression_of("slow-source", {}, std::chrono::year(2026) / 12 / 31)},
           std::chrono::year(2026) / 1 / 1);
  run.diagnosis.budgets =
      run.check({share(0.1), p95(1e6), forbid("tensor-cores-unused"), forbid("slow-transformation")});
  const std::string text = render_text(run.measurements, run.diagnosis, {});
  CHECK(text.find("max_input_share in pipeline 0:0 is exceeded: 80%, at most 10%") != std::string::npos);
  CHECK(unwrapped(text).find("rules_must_not_fire tensor-cores-unused is not evaluated: the trace shows") !=
        std::string::npos);
  CHECK(text.find("rules_must_not_fire slow-transformation is exceeded: 1 finding") != std::string::npos);
  CHECK(text.find("is met") == std::string::npos);
  CHECK(text.find("Accept  1 finding suppressed (-v says why): slow-source") != std::string::npos);
  CHECK(text.find("slow-source is seen") == std::string::npos);
  TextStyle full;
  full.detail = Detail::full;
  const std::string all = render_text(run.measurements, run.diagnosis, full);
  CHECK(all.find("max_get_next_p95_us in pipeline 0:0 is met: 12.0 ms, at most 1.00 s") != std::string::npos);
  CHECK(all.find("slow-source: slow-source is seen (known, until 2026-12-31)") != std::string::npos);

  const Json page = Json::parse(render_json(run.measurements, run.diagnosis));
  CHECK(page["findings"][1]["suppressed"] == Json({{"reason", "known"}, {"expires", "2026-12-31"}}));
  CHECK_FALSE(page["findings"][0].contains("suppressed"));
  REQUIRE(page["budgets"].size() == 6);
  CHECK(page["budgets"][0]["pipeline"] == "0:0");
  CHECK(page["budgets"][0]["name"] == "max_input_share");
  CHECK(page["budgets"][0]["exceeded"] == true);
  CHECK(page["budgets"][0]["unit"] == "share");
  CHECK(page["budgets"][4]["exceeded"].is_null());
  CHECK(page["budgets"][4]["value"].is_null());
  CHECK(page["budgets"][4]["rule"] == "tensor-cores-unused");
  CHECK(page["budgets"][4]["reason"] == "the trace shows no kernel");
}

}  // namespace doctor::gate_test
