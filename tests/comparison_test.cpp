// What a comparison of recordings says.

#include "compare/comparison.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compared_runs.h"
#include "report/comparison_pages.h"
#include "summaries.h"

namespace doctor::comparison_test {
namespace {

struct SlowDown {
  double factor;
  std::size_t count;
  bool is_weak;
  ComparisonOutcome outcome;
};

struct FindingCase {
  std::size_t in_base;
  std::size_t in_candidate;
  std::size_t count;
  Severity severity;
  bool is_regression;
};

TEST_CASE("the gap to an ideal run is that of medians, and closes from 0 to 100%") {
  const auto steps_of = [](double microseconds) {
    SummaryBuilder run = pipeline();
    run.run().pipelines.front().step = durations(10, microseconds);
    return run.run();
  };
  const Recordings base = {steps_of(100'000), steps_of(90'000), steps_of(110'000)};
  const auto words_of = [&](double candidate, double ideal) {
    const std::optional<ClosedGap> closed =
        closed_gap("ideal", base, Recordings{steps_of(candidate)}, Recordings{steps_of(ideal)});
    REQUIRE(closed);
    return describe_gap(*closed);
  };
  CHECK(words_of(62'500, 40'000) ==
        "closed 40% of the gap to the ideal run: base 10 steps/s, candidate 16, ideal 25 (traced)");
  CHECK(words_of(20'000, 40'000).starts_with("closed 100% of the gap"));
  CHECK(words_of(200'000, 40'000).starts_with("closed 0% of the gap"));
  CHECK(words_of(50'000, 99'000).starts_with("there is hardly a gap between the base and the ideal run: base 10 "));
  CHECK(words_of(50'000, 125'000)
            .starts_with("the ideal run is slower than the base: base 10 steps/s, candidate 20, "
                         "ideal 8 (traced); record them again"));
}

TEST_CASE("steps of a recording are those of its slowest consumer; torn recordings do not count") {
  SummaryBuilder run = pipeline();
  run.add_pipeline(0);
  run.add_pipeline(0);
  run.run().pipelines[0].step = durations(10, 10'000);
  run.run().pipelines[1].step = durations(10, 20'000);
  run.run().pipelines[2].step = durations(10, 40'000);
  run.run().pipelines[2].feeds_another = true;
  CHECK(steps_per_s(run.run()) == doctest::Approx(50));
  CHECK_FALSE(steps_per_s(RunSummary()));
  RunSummary torn = run.run();
  torn.is_torn = true;
  CHECK_FALSE(closed_gap("ideal", Recordings{torn}, Recordings{run.run()}, Recordings{run.run()}));
}

TEST_CASE("an op that is new in a function is worse by the work that it adds") {
  const auto with_op = [](const std::string& op, double microseconds) {
    SummaryBuilder run = pipeline();
    if (op != "DecodeJpeg") run["ParallelMap"].function_ops.clear();
    return run.runs("ParallelMap", op, microseconds);
  };
  SummaryBuilder both = pipeline();
  both.runs("ParallelMap", "ResizeBilinear", 60);
  check_found(pipeline(), both, ChangeKind::op_added,
              "ResizeBilinear is new in the function of ParallelMap: 1 calls a step, +60 us of work a step", true);
  // In exchange for another: as much work as before is none the worse, twice as much is.
  check_found(pipeline(), with_op("DecodeImage", 1300), ChangeKind::op_added, "DecodeImage is new", false);
  check_found(pipeline(), with_op("DecodeImage", 2000), ChangeKind::op_added, "DecodeImage is new", true);
  // Too little to slow the pipeline down is told all the same.
  SummaryBuilder little = pipeline();
  little.runs("ParallelMap", "ResizeBilinear", 6);
  check_found(pipeline(), little, ChangeKind::op_added, "+6.0 us of work a step", false);
  const RunComparison told = compare_runs({pipeline()}, {little});
  CHECK(summarize(told).starts_with("ResizeBilinear is new in the function of ParallelMap"));
  CHECK(summarize(told).find("of the pipeline's work (1.0% may be added)") != std::string::npos);
  // Seldom enough for its absence to be chance.
  little["ParallelMap"].function_ops.back().durations = durations(10, 1);
  CHECK(find_change(compare_runs({pipeline()}, {little}), ChangeKind::op_added) == nullptr);
  // Only some recordings run it: a branch that is seldom taken.
  CHECK(find_change(compare_runs({pipeline()}, {both, pipeline()}), ChangeKind::op_added) == nullptr);
  CHECK(find_change(compare_runs({pipeline(), both}, {both, both}), ChangeKind::op_added) == nullptr);
}

TEST_CASE("sides that show no iterators, or nothing at all, cannot be compared") {
  RunSummary bare;
  bare.pipelines.emplace_back();
  for (const RunComparison& comparison : {compare_runs({bare}, {pipeline()}), compare_runs({pipeline()}, {bare})}) {
    CHECK(comparison.outcome == ComparisonOutcome::inconclusive);
    CHECK(comparison.changes.empty());
    REQUIRE(comparison.notes.size() == 1);
    CHECK(comparison.notes[0].find("show no iterators") != std::string::npos);
  }
  CHECK(compare_runs({}, {}).outcome == ComparisonOutcome::inconclusive);
  CHECK(compare_runs({pipeline()}, {}).changes.empty());
  CHECK(compare_runs({}, {pipeline()}).rows.empty());
}

TEST_CASE("like recordings: one says nothing, five say that nothing is slower") {
  const RunComparison one = compare_runs({pipeline()}, {pipeline()});
  CHECK(one.outcome == ComparisonOutcome::inconclusive);
  CHECK(one.changes.empty());
  CHECK(one.needed_count == 5);
  CHECK(find_row(one, TimeKind::self, "Shuffle")->needed == 5);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const RunComparison five =
        compare_runs(recordings(pipeline(), 5, 2 * seed), recordings(pipeline(), 5, 2 * seed + 1));
    CHECK(five.outcome == ComparisonOutcome::no_regression);
    CHECK(five.changes.empty());
  }
}

TEST_CASE("slower calls of one iterator, or of one op") {
  for (const bool is_op : {false, true}) {
    for (const SlowDown& one : std::vector<SlowDown>{
             {1.05, 5, false, ComparisonOutcome::regression},
             {1.02, 5, false, ComparisonOutcome::no_regression},
             {0.90, 5, false, ComparisonOutcome::no_regression},
             {1.20, 4, false, ComparisonOutcome::inconclusive},
             {1.08, 3, true, ComparisonOutcome::regression},
             {1.04, 3, true, ComparisonOutcome::no_regression},
             {1.50, 2, true, ComparisonOutcome::inconclusive},
         }) {
      CAPTURE(one.factor);
      CAPTURE(is_op);
      SummaryBuilder candidate = pipeline();
      DurationStatistics& durations =
          is_op ? candidate["ParallelMap"].function_ops[0].durations : candidate["Shuffle"].self;
      scale(durations, one.factor);
      ComparisonChoice choice;
      choice.is_weak = one.is_weak;
      const RunComparison comparison =
          compare_runs(recordings(pipeline(), one.count, 1, 0.004), recordings(candidate, one.count, 2, 0.004), choice);
      CHECK(comparison.outcome == one.outcome);
      if (one.outcome != ComparisonOutcome::regression) continue;
      const TimeRow* const row =
          find_row(comparison, is_op ? TimeKind::op : TimeKind::self, is_op ? "ParallelMap" : "Shuffle");
      REQUIRE(row != nullptr);
      CHECK(row->difference == Difference::slower);
      CHECK(row->ratio() == doctest::Approx(one.factor).epsilon(0.01));
      CHECK(row->cost_us == doctest::Approx((one.factor - 1) * (is_op ? 1000 : 100)).epsilon(0.2));
      REQUIRE(row->interval);
      CHECK(row->interval->low > 1);
      const auto is_slower = [](const TimeRow& other) { return is_regression(other); };
      CHECK(std::count_if(comparison.rows.begin(), comparison.rows.end(), is_slower) == 1);
    }
  }
}

TEST_CASE("a tail alone is found by its part of the time") {
  SummaryBuilder candidate = pipeline();
  candidate["Shuffle"].self = durations(SummaryBuilder::kSteps, 100, 0.3);
  const RunComparison comparison = compare_runs(recordings(pipeline(), 5, 1), recordings(candidate, 5, 2));
  CHECK(comparison.outcome == ComparisonOutcome::regression);
  CHECK(find_row(comparison, TimeKind::tail, "Shuffle")->difference == Difference::slower);
  CHECK(find_row(comparison, TimeKind::self, "Shuffle")->difference != Difference::slower);
  candidate["Shuffle"].self = durations(SummaryBuilder::kSteps, 100, 0.03);
  CHECK(compare_runs(recordings(pipeline(), 5, 1), recordings(candidate, 5, 2)).outcome ==
        ComparisonOutcome::no_regression);
}

TEST_CASE("more calls of an iterator for one step") {
  SummaryBuilder candidate = pipeline();
  candidate.is_called("Shuffle", 150);
  const RunComparison comparison = compare_runs(recordings(pipeline(), 5, 1), recordings(candidate, 5, 2));
  CHECK(comparison.outcome == ComparisonOutcome::regression);
  CHECK(find_row(comparison, TimeKind::calls, "Shuffle")->difference == Difference::slower);
  candidate.is_called("Shuffle", 115);  // what a window cuts off
  CHECK(compare_runs(recordings(pipeline(), 5, 1), recordings(candidate, 5, 2)).outcome ==
        ComparisonOutcome::no_regression);
}

TEST_CASE("what is a small part of the work is not judged") {
  SummaryBuilder base = pipeline();
  base.takes("Root", 1);
  SummaryBuilder candidate = pipeline();
  candidate.takes("Root", 3);
  const RunComparison comparison = compare_runs(recordings(base, 5, 1), recordings(candidate, 5, 2));
  CHECK(comparison.outcome == ComparisonOutcome::no_regression);
  CHECK(find_row(comparison, TimeKind::self, "Root")->reason == "less than 1% of the pipeline's work");
}

TEST_CASE("a step that takes twice as long is never 'nothing got slower', even where nothing explains it") {
  SummaryBuilder candidate = pipeline();
  scale(candidate.run().pipelines[0].step, 2.5);
  const RunComparison comparison = compare_runs(recordings(pipeline(), 5, 1), recordings(candidate, 5, 2));
  CHECK(comparison.outcome == ComparisonOutcome::inconclusive);
  CHECK(summarize(comparison).find("takes 1.0") != std::string::npos);
  CHECK(summarize(comparison).find("nothing that was compared explains it") != std::string::npos);
}

TEST_CASE("what is called now and then may show in a window or not") {
  const SummaryBuilder base("Root Prefetch Map FlatMap");
  SummaryBuilder candidate("Root Prefetch Map FlatMap TensorSlice");
  candidate.is_called("TensorSlice", 3);
  const RunComparison rare = compare_runs({base}, {candidate});
  REQUIRE(find_change(rare, ChangeKind::iterator_added) != nullptr);
  CHECK_FALSE(find_change(rare, ChangeKind::iterator_added)->is_certain);
  candidate.is_called("TensorSlice", 100);
  CHECK(find_change(compare_runs({base}, {candidate}), ChangeKind::iterator_added)->is_certain);
}

TEST_CASE("steps that differ on one side alone as they do between the sides are the machine's") {
  Recordings base = recordings(pipeline(), 5, 1);
  Recordings candidate = recordings(pipeline(), 5, 2);
  for (const std::size_t slow : {0, 1}) scale(base[slow].pipelines[0].step, 3);
  for (const std::size_t slow : {0, 1, 2}) scale(candidate[slow].pipelines[0].step, 3);
  const RunComparison comparison = compare_runs(base, candidate);
  CHECK(find_row(comparison, TimeKind::step, "step")->ratio() > 2.5);
  CHECK(comparison.outcome == ComparisonOutcome::no_regression);
}

TEST_CASE("steps and GetNext make a regression only where they are judged") {
  SummaryBuilder candidate = pipeline();
  scale(candidate.run().pipelines[0].step, 1.9);
  scale(candidate.run().pipelines[0].get_next, 1.9);
  const Recordings base = recordings(pipeline(), 5, 1);
  const Recordings slower = recordings(candidate, 5, 2);
  CHECK(compare_runs(base, slower).outcome == ComparisonOutcome::no_regression);
  CHECK(find_row(compare_runs(base, slower), TimeKind::step, "step")->ratio() == doctest::Approx(1.9).epsilon(0.02));
  for (const bool is_step : {false, true}) {
    ComparisonChoice choice;
    (is_step ? choice.judges_step : choice.judges_get_next) = true;
    CHECK(compare_runs(base, slower, choice).outcome == ComparisonOutcome::regression);
    CHECK(compare_runs(base, base, choice).outcome == ComparisonOutcome::no_regression);
  }
}

TEST_CASE("a new finding must be in all recordings of one side and in none of the other") {
  for (const FindingCase& one : std::vector<FindingCase>{
           {0, 5, 5, Severity::warning, true},
           {0, 5, 5, Severity::error, true},
           {0, 5, 5, Severity::note, false},
           {0, 4, 5, Severity::warning, false},
           {1, 5, 5, Severity::warning, false},
           {5, 0, 5, Severity::warning, false},
           {5, 5, 5, Severity::warning, false},
           {0, 4, 4, Severity::warning, false},
           {0, 1, 1, Severity::error, false},
       }) {
    CAPTURE(one.in_base);
    CAPTURE(one.in_candidate);
    const auto with = [&](std::size_t count, std::uint64_t seed) {
      Recordings runs = recordings(pipeline(), one.count, seed);
      for (std::size_t index = 0; index < count; ++index) {
        runs[index].findings.push_back({"sequential-map", one.severity, runs[index].iterators[3].long_name});
      }
      return runs;
    };
    const RunComparison comparison = compare_runs(with(one.in_base, 1), with(one.in_candidate, 2));
    CHECK((comparison.outcome == ComparisonOutcome::regression) == one.is_regression);
  }
  ComparisonChoice never;
  never.fail_on.reset();
  SummaryBuilder found = pipeline();
  found.finds("sequential-map", "Iterator::Root", Severity::error);
  CHECK(compare_runs(recordings(pipeline(), 5, 1), recordings(found, 5, 2), never).outcome ==
        ComparisonOutcome::no_regression);
}

TEST_CASE("one rule has no new and no vanished finding in one comparison") {
  const auto run = [](const char* place) {
    SummaryBuilder builder("Root Batch Map Shuffle Range");
    builder.finds("slow-transformation", builder[place].long_name);
    return builder;
  };
  const RunComparison comparison = compare_runs(recordings(run("Map"), 5, 1), recordings(run("Shuffle"), 5, 2));
  const StructureChange* const change = find_change(comparison, ChangeKind::finding_new);
  REQUIRE(change != nullptr);
  CHECK(change->message == "slow-transformation is a finding at another place");
  CHECK(find_change(comparison, ChangeKind::finding_gone) == nullptr);
}

TEST_CASE("lost events are told") {
  RunSummary lossy = pipeline();
  lossy.is_complete = false;
  CHECK(compare_runs({lossy}, {pipeline()}).notes ==
        std::vector<std::string>{"of 1 recordings something was lost or could not be read"});
}

TEST_CASE("a recording without the pipeline does not lend it the numbers of another") {
  Recordings base = recordings(pipeline(), 5, 1);
  Recordings candidate = recordings(pipeline(), 5, 2);
  candidate[0] = SummaryBuilder("Model Generator");
  candidate[0].iterators.clear();
  candidate[0].pipelines[0].root = kNoIndex;
  const RunComparison comparison = compare_runs(base, candidate);
  REQUIRE_FALSE(comparison.pipeline_rows.empty());
  CHECK(comparison.pipeline_rows[0].candidate.size() == 4);
}

}  // namespace
}  // namespace doctor::comparison_test
