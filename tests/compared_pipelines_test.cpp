// Edits of a pipeline, as a comparison of two recordings finds and names them.

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compared_runs.h"
#include "report/comparison_pages.h"
#include "summaries.h"

namespace doctor::comparison_test {
namespace {

ComparisonOutcome outcome_of(const RunSummary& base, const RunSummary& candidate) {
  return compare_runs({base}, {candidate}).outcome;
}

SummaryBuilder mapped_batches() {
  SummaryBuilder run("Root Prefetch Map Batch Range");
  run.sets("Batch", "batch_size", 32).is_called("Range", 3200);
  return run;
}

SummaryBuilder batched_maps() {
  SummaryBuilder run("Root Prefetch Batch Map Range");
  run.sets("Batch", "batch_size", 32).is_called("Map", 3200).is_called("Range", 3200);
  return run;
}

TEST_CASE("one edit is found from one recording") {
  struct Case {
    const char* name;
    std::function<void(SummaryBuilder&)> edit;
    ChangeKind kind;
    std::string words;
    bool is_worse;
  };
  for (const Case& one : std::vector<Case>{
           {"lower parallelism",
            [](auto& run) {
              run["ParallelMap"].settings = {{"parallelism", 2, 2}};
            },
            ChangeKind::setting_changed, "num_parallel_calls of ParallelMap: 8 -> 2", true},
           {"higher parallelism",
            [](auto& run) {
              run["ParallelMap"].settings = {{"parallelism", 16, 16}};
            },
            ChangeKind::setting_changed, "8 -> 16", false},
           {"left to AUTOTUNE",
            [](auto& run) {
              run["ParallelMap"].settings = {{"parallelism", 2, 3}};
              run.tunes("ParallelMap");
            },
            ChangeKind::setting_changed, "8 -> AUTOTUNE (chose 2 to 3)", false},
           {"left to TF",
            [](auto& run) {
              run["ParallelMap"].settings = {{"parallelism", 2, 2}};
              run.tunes("ParallelMap");
              run["ParallelMap"].is_parallelised_by_tf = true;
            },
            ChangeKind::setting_changed,
            "num_parallel_calls of ParallelMap is gone: 8 -> chosen by TF, which runs it in parallel by itself (2)",
            false},
           {"smaller buffer",
            [](auto& run) {
              run["Prefetch"].settings = {{"buffer_limit", 1, 1}};
            },
            ChangeKind::setting_changed, "the buffer of Prefetch: 4 -> 1", true},
           {"larger buffer",
            [](auto& run) {
              run["Prefetch"].settings = {{"buffer_limit", 9, 9}};
            },
            ChangeKind::setting_changed, "4 -> 9", false},
           {"another batch size",
            [](auto& run) {
              run["Batch"].settings = {{"batch_size", 2, 2}};
              for (const char* kind : {"ParallelMap", "Shuffle", "TFRecord"}) run.is_called(kind, 200);
            },
            ChangeKind::setting_changed, "batch_size of Batch: 1 -> 2", false},
           {"no threads", [](auto& run) { run["ParallelMap"].kind = run["ParallelMap"].words = "Map"; },
            ChangeKind::form_changed, "ParallelMap became Map", true},
           {"another kind", [](auto& run) { run["Shuffle"].kind = run["Shuffle"].words = "Take"; },
            ChangeKind::iterator_removed, "Shuffle is gone; it was below ParallelMap", false},
       }) {
    CAPTURE(one.name);
    SummaryBuilder candidate = pipeline();
    one.edit(candidate);
    check_found(pipeline(), candidate, one.kind, one.words, one.is_worse);
  }
}

TEST_CASE("an iterator that is gone or new") {
  const auto base = [] { return SummaryBuilder("Root Prefetch Batch Map Range"); };
  check_found(base(), SummaryBuilder("Root Batch Map Range"), ChangeKind::iterator_removed, "Prefetch is gone", true);
  check_found(SummaryBuilder("Root Batch Map Range"), base(), ChangeKind::iterator_added, "Prefetch is new", false);
  check_found(SummaryBuilder("Root Batch Cache Map Range"), SummaryBuilder("Root Batch Map Range"),
              ChangeKind::iterator_removed, "Cache is gone", true);
  SummaryBuilder cheap("Root Prefetch Filter Batch Map Range");
  check_found(base(), cheap.takes("Filter", 1), ChangeKind::iterator_added, "Filter is new below Prefetch", false);
  check_found(base(), cheap.takes("Filter", 100), ChangeKind::iterator_added, "100 us of work a step", true);
  check_found(cheap, base(), ChangeKind::iterator_removed, "Filter is gone", false);
}

TEST_CASE("what AUTOTUNE chooses is nothing, until it may choose no more") {
  SummaryBuilder tuned = pipeline();
  tuned["ParallelMap"].settings = {{"parallelism", 4, 16}};
  tuned.tunes("ParallelMap");
  SummaryBuilder other = tuned;
  other["ParallelMap"].settings = {{"parallelism", 1, 2}};
  CHECK(compare_runs({tuned}, {other}).changes.empty());
  check_found(tuned, pipeline(), ChangeKind::setting_changed, "AUTOTUNE (chose 4 to 16) -> 8", true);
  SummaryBuilder more = pipeline();
  more["ParallelMap"].settings = {{"parallelism", 16, 16}};
  check_found(tuned, more, ChangeKind::setting_changed, "-> 16", false);
  // Whether the user or TF asked for it makes no difference.
  other["ParallelMap"].is_parallelised_by_tf = true;
  CHECK(compare_runs({tuned}, {other}).changes.empty());
  check_found(other, pipeline(), ChangeKind::setting_changed,
              "num_parallel_calls of ParallelMap: chosen by TF, which runs it in parallel by itself (1 to 2) -> 8",
              false);
}

TEST_CASE("a map that moved below its batch is called for each element") {
  check_found(mapped_batches(), batched_maps(), ChangeKind::calls_changed, "called 32 times a step instead of 1 time",
              true);
  CHECK(find_change(compare_runs({mapped_batches()}, {batched_maps()}), ChangeKind::iterator_moved) != nullptr);
  check_found(batched_maps(), mapped_batches(), ChangeKind::calls_changed, "called 1 time a step instead of 32 times",
              false);
}

TEST_CASE("a map that became one with its batch is called for each element too") {
  SummaryBuilder fused("Root Prefetch MapAndBatch Range");
  fused.sets("MapAndBatch", "batch_size", 32).is_called("Range", 3200);
  check_found(mapped_batches(), fused, ChangeKind::calls_changed, "called 32 times a step", true);
  CHECK(find_change(compare_runs({batched_maps()}, {fused}), ChangeKind::calls_changed) == nullptr);
  // Apart again they are two, of which neither is new work.
  SummaryBuilder apart("Root Prefetch Batch ParallelMap Range");
  apart.sets("Batch", "batch_size", 32).is_called("ParallelMap", 3200).is_called("Range", 3200);
  CHECK(outcome_of(fused, apart) == ComparisonOutcome::inconclusive);
}

TEST_CASE("another batch size is another piece of work") {
  const auto with_size = [](std::int64_t size) {
    SummaryBuilder run("Root Prefetch Map Batch Shuffle Range");
    run.sets("Batch", "batch_size", size);
    for (const char* kind : {"Shuffle", "Range"}) run.is_called(kind, static_cast<std::uint64_t>(100 * size));
    run.takes("Map", 10 * static_cast<double>(size)).takes("Batch", 3 * static_cast<double>(size));
    return run;
  };
  const RunComparison comparison = compare_runs(recordings(with_size(8), 5, 1), recordings(with_size(64), 5, 2));
  CHECK(comparison.outcome == ComparisonOutcome::no_regression);
  CHECK_FALSE(find_row(comparison, TimeKind::self, "Map")->is_judged);
  CHECK_FALSE(find_row(comparison, TimeKind::calls, "Shuffle")->is_judged);
  CHECK(find_row(comparison, TimeKind::self, "Shuffle")->is_judged);  // a call of it takes one element, as before
  CHECK(comparison.notes == std::vector<std::string>{"a batch size changed, so a step is not the same piece of work"});
}

TEST_CASE("what is below a cache shows only while it is filled") {
  const SummaryBuilder reading("Root Prefetch MemoryCache MemoryCacheImpl");
  SummaryBuilder filling("Root Prefetch MemoryCache MemoryCacheImpl Map Range");
  for (const bool is_reverse : {false, true}) {
    const RunComparison comparison = compare_runs({is_reverse ? filling : reading}, {is_reverse ? reading : filling});
    CHECK(comparison.outcome == ComparisonOutcome::inconclusive);
    for (const StructureChange& change : comparison.changes) CHECK_FALSE(change.is_certain);
  }
}

TEST_CASE("of two maps the one that was there is found by its ops, its line and its times") {
  const auto map = [](SummaryBuilder& run, std::size_t index, double us, const std::string& code) {
    IteratorSummary& iterator = run.run().iterators[index];
    iterator.self = durations(SummaryBuilder::kSteps, us);
    iterator.function_ops = {{"TopKV2", durations(SummaryBuilder::kSteps, us * 0.7)}};
    if (!code.empty()) iterator.source = SourceLine{"input.py", 10 + index, code, {}, std::nullopt};
  };
  SummaryBuilder base("Root Prefetch Batch Map Range");
  map(base, 3, 760, "");
  SummaryBuilder candidate("Root Prefetch Batch Map Map Range");
  map(candidate, 3, 2300, "");
  map(candidate, 4, 570, "");
  const auto new_one = [](const RunSummary& before, const RunSummary& after) {
    const RunComparison comparison = compare_runs({before}, {after});
    const StructureChange* const change = find_change(comparison, ChangeKind::iterator_added);
    return change == nullptr ? std::string() : change->subject;
  };
  CHECK(new_one(base, candidate) == candidate.run().iterators[3].long_name);
  // A line says more than times.
  map(base, 3, 760, ".map(decode)");
  map(candidate, 3, 2300, ".map(decode)");
  map(candidate, 4, 570, ".map(augment)");
  CHECK(new_one(base, candidate) == candidate.run().iterators[4].long_name);
}

TEST_CASE("what a cache kept is not new where the cache is gone") {
  SummaryBuilder cached("Root Prefetch MemoryCache");
  SummaryBuilder uncached("Root Prefetch Map Range");
  const RunComparison comparison = compare_runs({cached}, {uncached});
  const StructureChange* const change = find_change(comparison, ChangeKind::iterator_added);
  REQUIRE(change != nullptr);
  CHECK(change->message.starts_with("Map works in every epoch now that the cache is gone"));
}

TEST_CASE("a finding is the same where its iterator has another name or place") {
  SummaryBuilder base("Root Batch Map Range");
  base.finds("sequential-map", base["Map"].long_name);
  SummaryBuilder renamed("Root Prefetch Batch Map Range");
  renamed.finds("sequential-map", renamed["Map"].long_name);
  CHECK(find_change(compare_runs({base}, {renamed}), ChangeKind::finding_new) == nullptr);
  SummaryBuilder top("Root Prefetch Range");
  top.finds("missing-prefetch", top["Prefetch"].long_name);
  SummaryBuilder other_top("Root Shuffle Range");
  other_top.takes("Shuffle", 1).finds("missing-prefetch", other_top["Shuffle"].long_name);
  const RunComparison moved = compare_runs(recordings(top, 5, 1), recordings(other_top, 5, 2));
  const StructureChange* const change = find_change(moved, ChangeKind::finding_new);
  REQUIRE(change != nullptr);
  CHECK_FALSE(change->is_worse);
  // At an iterator that both sides have it is new, whatever is gone elsewhere.
  SummaryBuilder both("Root Prefetch Range");
  both.finds("missing-prefetch", both["Range"].long_name);
  CHECK(compare_runs(recordings(top, 5, 1), recordings(both, 5, 2)).outcome == ComparisonOutcome::regression);
}

TEST_CASE("recordings of another shape are told, and what only some show never gates") {
  Recordings base = recordings(SummaryBuilder("Root Prefetch Batch Map Range"), 5, 1);
  const RunSummary without = SummaryBuilder("Root Batch Map Range");
  Recordings candidate = recordings(without, 5, 2);
  candidate[3] = recordings(base[0], 1, 3)[0];  // one of five still has the Prefetch
  const RunComparison comparison = compare_runs(base, candidate);
  CHECK(comparison.outcome == ComparisonOutcome::no_regression);
  CHECK_FALSE(find_change(comparison, ChangeKind::iterator_removed)->is_certain);
  REQUIRE_FALSE(comparison.notes.empty());
  CHECK(comparison.notes[0].find("1 recordings show other iterators") != std::string::npos);
  // A form, and calls, that only most recordings have.
  Recordings parallel = recordings(pipeline(), 5, 1);
  Recordings sequential = parallel;
  for (std::size_t index = 0; index < 3; ++index) sequential[index].iterators[3].kind = "Map";
  CHECK_FALSE(find_change(compare_runs(parallel, sequential), ChangeKind::form_changed)->is_certain);
  Recordings swapped = recordings(batched_maps(), 5, 1);
  swapped[0] = mapped_batches();
  CHECK_FALSE(
      find_change(compare_runs(recordings(mapped_batches(), 5, 2), swapped), ChangeKind::calls_changed)->is_certain);
}

}  // namespace
}  // namespace doctor::comparison_test
