// Whether the functions of two versions call their ops as often.

#include "compare/op_calls.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "compare/baseline.h"
#include "report/comparison_pages.h"
#include "summaries.h"

namespace doctor::op_calls_test {
namespace {

/// A map whose function calls DecodeJpeg so many times for each element, 1 ms each.
SummaryBuilder decoding(std::uint64_t low, std::uint64_t high, double mean, double microseconds = 1000) {
  SummaryBuilder run("Root Prefetch Batch ParallelMap Range");
  run.sets("Batch", "batch_size", 8).is_called("ParallelMap", 800).is_called("Range", 800);
  run.runs("ParallelMap", "DecodeJpeg", microseconds);
  const auto calls = static_cast<std::uint64_t>(800 * mean);
  OpSummary& op = run["ParallelMap"].function_ops.back();
  op.durations = durations(calls, microseconds);
  op.per_run = {800, low, high, calls};
  return run;
}

SummaryBuilder decoding(std::uint64_t calls) {
  return decoding(calls, calls, static_cast<double>(calls));
}

}  // namespace

TEST_CASE("an op that is called twice as often is a regression from one recording a side, and says what it costs") {
  const RunComparison comparison = compare_runs({decoding(1)}, {decoding(2)});
  CHECK(comparison.outcome == ComparisonOutcome::regression);
  const StructureChange* const change = find_change(comparison, ChangeKind::op_calls_changed);
  REQUIRE(change != nullptr);
  CHECK(change->is_worse);
  CHECK(change->message == "DecodeJpeg runs 2x as often in ParallelMap: 8 -> 16 calls a step, +8.00 ms of work a step");
  // In five recordings a side too, and the other way round it is none the worse.
  CHECK(compare_runs(recordings(decoding(1), 5, 1), recordings(decoding(2), 5, 2)).outcome ==
        ComparisonOutcome::regression);
  const RunComparison back = compare_runs(recordings(decoding(2), 5, 1), recordings(decoding(1), 5, 2));
  CHECK(back.outcome != ComparisonOutcome::regression);
  REQUIRE(find_change(back, ChangeKind::op_calls_changed) != nullptr);
  CHECK_FALSE(find_change(back, ChangeKind::op_calls_changed)->is_worse);
}

TEST_CASE("calls that came and are larger count with what they take") {
  // One of four decodes what the base did; p25 is that of the small ones.
  SummaryBuilder candidate = decoding(4);
  DurationStatistics& times = candidate["ParallelMap"].function_ops.back().durations;
  times.median = times.p90 = times.p99 = 4 * times.p25;
  times.total = 13 * times.total / 4;
  const RunComparison comparison = compare_runs({decoding(1)}, {candidate});
  const StructureChange* const change = find_change(comparison, ChangeKind::op_calls_changed);
  REQUIRE(change != nullptr);
  CHECK(change->message == "DecodeJpeg runs 4x as often in ParallelMap: 8 -> 32 calls a step, +96.0 ms of work a step");
}

TEST_CASE("fewer calls are no more work, however long the one that is left takes") {
  // Two of three were small, so that the 25th percentile of the base is that of a small one.
  SummaryBuilder base = decoding(3, 3, 3, 10);
  const RunComparison comparison = compare_runs({base}, {decoding(1, 1, 1, 1000)});
  const StructureChange* const change = find_change(comparison, ChangeKind::op_calls_changed);
  REQUIRE(change != nullptr);
  CHECK(change->message.starts_with("DecodeJpeg runs 3x less often in ParallelMap: 24 -> 8 calls a step"));
  CHECK(*change->added_share <= 0);
  CHECK_FALSE(change->is_worse);
}

TEST_CASE("ops whose calls TF records only now and then are told, and never fail") {
  const auto with_cast = [](double microseconds) {
    SummaryBuilder run = decoding(1);
    run.runs("ParallelMap", "Cast", microseconds);
    OpSummary& op = run["ParallelMap"].function_ops.back();
    op.durations = durations(8'000, microseconds);
    op.per_run = {800, 10, 10, 8'000};
    return run;
  };
  for (const double microseconds : {2.0, 20.0}) {
    const RunComparison comparison = compare_runs({decoding(1)}, {with_cast(microseconds)});
    const StructureChange* const change = find_change(comparison, ChangeKind::op_added);
    REQUIRE(change != nullptr);
    const bool is_short = microseconds < 5;
    CHECK(change->is_certain == !is_short);
    CHECK((comparison.outcome == ComparisonOutcome::regression) == !is_short);
    CHECK((change->message.find("only now and then") != std::string::npos) == is_short);
    CHECK(may_be_chance(*change) == is_short);
  }
  // A recording that shows other calls as short shows all of them.
  const auto with_short = [&](SummaryBuilder run) { return run.runs("ParallelMap", "RealDiv", 1); };
  const RunComparison shown = compare_runs({with_short(decoding(1))}, {with_short(with_cast(2))});
  CHECK(shown.outcome == ComparisonOutcome::regression);
}

TEST_CASE("an op that is gone is named, and what may be added is a setting") {
  const RunComparison gone = compare_runs({decoding(1)}, {[] {
                                            SummaryBuilder run = decoding(1);
                                            run["ParallelMap"].function_ops.clear();
                                            return run.runs("ParallelMap", "Other", 1000);
                                          }()});
  const StructureChange* const change = find_change(gone, ChangeKind::op_calls_changed);
  REQUIRE(change != nullptr);
  CHECK(
      change->message.starts_with("DecodeJpeg is gone from the function of ParallelMap: it was called 8 times a step"));
  for (const double most : {0.01, 10.0}) {
    ThresholdValues thresholds(comparison_thresholds(), {{"max_extra_work", most}});
    const std::vector<RunSummary> base = {decoding(1)};
    const std::vector<RunSummary> candidate = {decoding(2)};
    const RunComparison comparison = compare(base, candidate, {}, thresholds);
    CHECK((comparison.outcome == ComparisonOutcome::regression) == (most < 1));
    CHECK(summarize(comparison).starts_with("DecodeJpeg runs 2x as often"));
  }
}

TEST_CASE("larger elements are told where they become larger, with one recording a side") {
  const auto resized = [](std::uint64_t bytes, std::int64_t batch) {
    SummaryBuilder run("Root Prefetch Batch ParallelMap Range");
    run.sets("Batch", "batch_size", batch).is_called("ParallelMap", 100 * static_cast<std::uint64_t>(batch));
    run["ParallelMap"].element_bytes = bytes;
    for (const char* const above : {"Batch", "Prefetch", "Root"}) {
      run[above].element_bytes = bytes * static_cast<std::uint64_t>(batch);
    }
    return run;
  };
  const RunComparison comparison = compare_runs({resized(27'648, 8)}, {resized(442'368, 8)});
  CHECK(comparison.outcome == ComparisonOutcome::regression);
  REQUIRE(comparison.changes.size() == 1);
  CHECK(comparison.changes[0].kind == ChangeKind::element_bytes_changed);
  CHECK(comparison.changes[0].message == "elements of ParallelMap: 27.6 kB -> 442 kB (16x)");
  // A little larger is told, and smaller is none the worse.
  const RunComparison little = compare_runs({resized(1000, 8)}, {resized(1100, 8)});
  REQUIRE(little.changes.size() == 1);
  CHECK_FALSE(little.changes[0].is_worse);
  CHECK_FALSE(compare_runs({resized(2000, 8)}, {resized(1000, 8)}).changes[0].is_worse);
  // Of a batch of another size only that is told, and nothing where a side does not know.
  const RunComparison batch = compare_runs({resized(1000, 8)}, {resized(1000, 16)});
  CHECK(find_change(batch, ChangeKind::element_bytes_changed) == nullptr);
  SummaryBuilder unknown("Root Prefetch Batch ParallelMap Range");
  unknown.sets("Batch", "batch_size", 8).is_called("ParallelMap", 800);
  CHECK(compare_runs({unknown}, {resized(1000, 8)}).changes.empty());
}

TEST_CASE("more calls that take less each are not faster") {
  const RunComparison comparison =
      compare_runs(recordings(decoding(1, 1, 1, 1000), 5, 1), recordings(decoding(3, 3, 3, 700), 5, 2));
  CHECK(comparison.outcome == ComparisonOutcome::regression);
  REQUIRE(comparison.rows.size() > 0);
  for (const TimeRow& row : comparison.rows) {
    if (row.op != "DecodeJpeg") continue;
    CHECK(row.difference == Difference::unknown);
    CHECK_FALSE(row.is_judged);
    CHECK(row.cost_us == doctest::Approx(8 * (3 * 700 - 1000)).epsilon(0.02));
    CHECK(row.reason.starts_with("it is called more often for the same elements"));
  }
}

TEST_CASE("what the edges of a window cut off, and branches that depend on the element, are no change") {
  const auto changes = [](const SummaryBuilder& base, const SummaryBuilder& candidate) {
    return find_change(compare_runs({base}, {candidate}), ChangeKind::op_calls_changed) != nullptr;
  };
  CHECK_FALSE(changes(decoding(1), decoding(1)));
  CHECK_FALSE(changes(decoding(1, 1, 1), decoding(1, 1, 0.9)));    // some runs were cut off
  CHECK_FALSE(changes(decoding(0, 1, 0.5), decoding(0, 1, 0.6)));  // a branch that every second element takes
  CHECK_FALSE(changes(decoding(10), decoding(10, 12, 10.4)));
  CHECK(changes(decoding(10), decoding(11)));  // a loop that goes round once more
  CHECK(changes(decoding(0, 1, 0.5), decoding(1)));
}

TEST_CASE("a recording among several that does not show it keeps a change of calls from being told") {
  CHECK(find_change(compare_runs({decoding(1), decoding(2)}, {decoding(2), decoding(2)}),
                    ChangeKind::op_calls_changed) == nullptr);
}

TEST_CASE("of two alike below one parent the one that is called as often is the same") {
  // Another pipeline was made before, and still runs while this one is recorded.
  SummaryBuilder twice = decoding(1);
  IteratorSummary other = twice["ParallelMap"];
  other.calls = 8;
  other.function_ops.back().per_run = {8, 2, 2, 16};
  std::vector<IteratorSummary>& iterators = twice.run().iterators;
  iterators.insert(iterators.begin() + 3, other);
  for (std::size_t index = 4; index < iterators.size(); ++index) {
    if (iterators[index].parent != kNoIndex && iterators[index].parent >= 3) ++iterators[index].parent;
  }
  CHECK(find_change(compare_runs({twice}, {decoding(1)}), ChangeKind::op_calls_changed) == nullptr);
  CHECK(find_change(compare_runs({decoding(1)}, {twice}), ChangeKind::op_calls_changed) == nullptr);
  CHECK(find_change(compare_runs({twice}, {decoding(2)}), ChangeKind::op_calls_changed) != nullptr);
}

TEST_CASE("as much work in more and smaller calls is none the worse") {
  const RunComparison comparison = compare_runs({decoding(1, 1, 1, 1000)}, {decoding(8, 8, 8, 125)});
  CHECK(comparison.outcome != ComparisonOutcome::regression);
  REQUIRE(find_change(comparison, ChangeKind::op_calls_changed) != nullptr);
  CHECK(find_change(comparison, ChangeKind::op_calls_changed)->message.ends_with("+0 us of work a step"));
}

TEST_CASE("a baseline of an earlier version has no calls of single runs: the calls in all tell it") {
  SummaryBuilder base = decoding(1);
  SummaryBuilder same = decoding(1);
  base["ParallelMap"].function_ops.back().per_run = {};
  CHECK(compare_runs({base}, {same}).outcome == ComparisonOutcome::inconclusive);
  CHECK(compare_runs({base}, {decoding(2)}).outcome == ComparisonOutcome::regression);
}

TEST_CASE("a baseline keeps the calls of a run, and its identifier is that of earlier versions") {
  const RunSummary with = decoding(2);
  SummaryBuilder without = decoding(2);
  without["ParallelMap"].function_ops.back().per_run = {};
  CHECK(identifier_of(with) == identifier_of(without));
  const Result<StoredRun> read = parse_stored_run(to_json({identifier_of(with), "main", with}), "here");
  REQUIRE(read);
  CHECK(read->summary == with);
}

}  // namespace doctor::op_calls_test
