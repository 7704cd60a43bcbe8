// What work costs a step: threads work at once, so only the longest part of a pipeline makes it longer.

#include "compare/step_model.h"

#include <doctest/doctest.h>

#include <string>

#include "report/comparison_pages.h"
#include "summaries.h"

namespace doctor::step_model_test {
namespace {

/// A consumer that works 1 ms between its calls, a prefetch, and a parallel map of 4 ms on 4 threads.
SummaryBuilder pipeline(double function_us = 4000) {
  SummaryBuilder run("Root Prefetch Batch ParallelMap Shuffle TFRecord");
  run.sets("ParallelMap", "parallelism", 4).runs("ParallelMap", "DecodeJpeg", function_us);
  run.run().pipelines[0].step = durations(SummaryBuilder::kSteps, 1400);
  run.run().pipelines[0].get_next = durations(SummaryBuilder::kSteps, 400);
  return run;
}

double step_of(const RunSummary& run, const AddedWork& added = {}) {
  const std::optional<double> step = modelled_step_us(run, run.pipelines[0], {}, added);
  REQUIRE(step);
  return *step;
}

TEST_CASE("a step takes as long as the longest of its parts") {
  // The consumer with the root, which takes 100 us.
  CHECK(step_of(pipeline()) == doctest::Approx(1100));
  CHECK(step_of(pipeline(8000)) == doctest::Approx(2000));
  SummaryBuilder sequential = pipeline();
  sequential.takes("Shuffle", 5000);
  CHECK(step_of(sequential) == doctest::Approx(5100));
  // Without a thread between them the consumer waits for all of it.
  SummaryBuilder chain("Root Batch Map Range");
  chain.run().pipelines[0].step = durations(SummaryBuilder::kSteps, 1400);
  CHECK(step_of(chain) == doctest::Approx(1100 + 400));
  CHECK_FALSE(modelled_step_us(chain, PipelineSummary()));
}

TEST_CASE("work that is added counts where it is done") {
  const SummaryBuilder run = pipeline();
  const std::size_t map = 3;
  CHECK(step_of(run, {map, true, 400}) == doctest::Approx(1100));
  CHECK(step_of(run, {map, true, 4000}) == doctest::Approx(2000));
  CHECK(step_of(run, {0, false, 55}) == doctest::Approx(1155));
}

RunComparison compare_with(const SummaryBuilder& candidate, std::optional<double> max_slowdown = {}) {
  ComparisonChoice choice;
  choice.max_slowdown = max_slowdown;
  return compare_runs(recordings(pipeline(), 5, 1, 0.004), recordings(candidate, 5, 2, 0.004), choice);
}

TEST_CASE("--max-slowdown asks for the step, not for the row") {
  const SummaryBuilder hidden = pipeline(4300);
  const SummaryBuilder felt = pipeline(6000);
  CHECK(compare_with(hidden).outcome == ComparisonOutcome::regression);
  CHECK(compare_with(hidden, 0.02).outcome == ComparisonOutcome::no_regression);
  const RunComparison slower = compare_with(felt, 0.02);
  CHECK(slower.outcome == ComparisonOutcome::regression);
  CHECK(render_comparison_text(slower, {}).find("and 2% are allowed") != std::string::npos);
  CHECK(compare_with(felt, 0.9).outcome == ComparisonOutcome::no_regression);
  const TimeRow* const row = find_row(slower, TimeKind::op, "ParallelMap");
  REQUIRE(row != nullptr);
  REQUIRE(row->longer_step);
  CHECK(*row->longer_step == doctest::Approx(1500.0 / 1100 - 1).epsilon(0.03));
}

TEST_CASE("a row that costs less than 1% of a step is no regression") {
  SummaryBuilder candidate = pipeline();
  candidate.takes("Shuffle", 112);  // 12 us of 1400
  CHECK(compare_with(candidate).outcome == ComparisonOutcome::no_regression);
  candidate.takes("Shuffle", 130);
  CHECK(compare_with(candidate).outcome == ComparisonOutcome::regression);
}

TEST_CASE("many small ops together are the work of a function") {
  const auto with_ops = [](double us) {
    SummaryBuilder run = pipeline();
    for (int op = 0; op < 60; ++op) run.runs("ParallelMap", "Op" + std::to_string(10 + op), us);
    return run;
  };
  const RunComparison comparison =
      compare_runs(recordings(with_ops(20), 5, 1, 0.002), recordings(with_ops(26), 5, 2, 0.002));
  CHECK(comparison.outcome == ComparisonOutcome::regression);
  const TimeRow* const work = find_row(comparison, TimeKind::work, "ParallelMap");
  REQUIRE(work != nullptr);
  CHECK(work->difference == Difference::slower);
  CHECK(work->cost_us == doctest::Approx(60 * 6).epsilon(0.2));
}

TEST_CASE("what takes more in all is never faster") {
  SummaryBuilder candidate = pipeline(1800);
  candidate["ParallelMap"].function_ops[0].durations.count *= 3;
  candidate["ParallelMap"].function_ops[0].durations.total *= 3;
  const RunComparison comparison = compare_with(candidate);
  for (const TimeRow& row : comparison.rows) {
    CHECK_FALSE((row.op == "DecodeJpeg" && row.difference == Difference::faster));
  }
  CHECK(comparison.outcome == ComparisonOutcome::regression);
}

}  // namespace
}  // namespace doctor::step_model_test
