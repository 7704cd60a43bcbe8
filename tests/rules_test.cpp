// What rules do together. What each of them says is tested in tests/rules/<rule-id>_test.cpp.

#include <doctest/doctest.h>

#include "diagnose/budgets.h"
#include "rules/pipelines.h"
#include "rules/rule_test.h"

namespace doctor::rule_test {
namespace {

TEST_CASE("easy changes come before others of their severity") {
  const std::span<const Rule> rules = all_rules();
  const auto first_rule = [&](const MeasuredPipeline& pipeline) {
    return diagnose(pipeline.measurements(), rules, {}).findings.front().rule;
  };
  // As much compute as input: a prefetch hides all of the wait. With more input than compute it cannot.
  CHECK(first_rule(with_level(without_prefetch(), 0.5)) == "missing-prefetch");
  CHECK(first_rule(with_level(without_prefetch(), 0.8)) != "missing-prefetch");
  CHECK(first_rule(many_calls(250, 20, 1)) == "unvectorized-map");
  CHECK(first_rule(filtered_map(10)) == "filter-drops-most");
}

TEST_CASE("a rule about devices leaves no budget in doubt where there are none") {
  const std::span<const Rule> rules = all_rules();
  const Measurements measurements = sequential_map().measurements();
  const Diagnosis diagnosis = diagnose(measurements, rules, {});
  Budget no_small_kernels;
  no_small_kernels.kind = BudgetKind::forbidden_rule;
  no_small_kernels.rule = "kernel-launch-bound";
  const std::vector<BudgetResult> results = check_budgets(measurements, diagnosis, std::vector{no_small_kernels});
  CHECK(outcome_of(results) == BudgetOutcome::met);
  for (const NotEvaluated& entry : diagnosis.not_evaluated) {
    CAPTURE(entry.rule);
    CHECK(entry.is_inapplicable == (entry.reason == "the trace shows no device"));
  }
}

TEST_CASE("what another loop takes beside the training is neither judged nor advised") {
  MeasuredPipeline job = sequential_map();
  job.host().pipelines.push_back(with_level(job, kHealthy).pipeline());
  const auto diagnose_job = [&] { return diagnose(job.measurements(), all_rules(), {}); };
  CHECK(diagnose_job().judgement.status == VerdictStatus::input_bound);
  job.pipeline().is_beside_training = true;
  CHECK(diagnose_job().judgement.status == VerdictStatus::healthy);
  CHECK(ask("sequential-map", job.measurements()).findings.empty());
}

TEST_CASE("what replicas share is reported once for each host") {
  MeasuredPipeline replicas = sequential_map();
  replicas.host().pipelines.push_back(replicas.pipeline());
  Measurements measurements = replicas.measurements();
  CHECK(ask("sequential-map", measurements).findings.size() == 1);
  measurements.hosts.push_back(measurements.hosts.front());
  CHECK(ask("sequential-map", measurements).findings.size() == 2);
  CHECK(ask("damaged-trace", measurements).findings.empty());
}

}  // namespace
}  // namespace doctor::rule_test
