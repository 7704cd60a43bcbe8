// What a comparison of recordings says.

#include "compare/comparison.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "report/comparison_pages.h"
#include "report/comparison_words.h"
#include "summaries.h"

namespace doctor::comparison_test {
namespace {

using Recordings = std::vector<RunSummary>;

SummaryBuilder pipeline() {
  SummaryBuilder run("Root Prefetch Batch ParallelMap Shuffle TFRecord");
  run.sets("Prefetch", "buffer_limit", 4).sets("Batch", "batch_size", 1).sets("ParallelMap", "parallelism", 8);
  run.runs("ParallelMap", "DecodeJpeg", 1000);
  return run;
}

ComparisonOutcome outcome_of(const RunSummary& base, const RunSummary& candidate) {
  return compare_runs({base}, {candidate}).outcome;
}

void check_found(const RunSummary& base, const RunSummary& candidate, ChangeKind kind, const std::string& words,
                 bool is_worse) {
  const RunComparison comparison = compare_runs({base}, {candidate});
  const StructureChange* const change = find_change(comparison, kind);
  REQUIRE(change != nullptr);
  CHECK(change->is_certain);
  CHECK(change->is_worse == is_worse);
  CHECK_MESSAGE(change->message.find(words) != std::string::npos, change->message);
  CHECK((comparison.outcome == ComparisonOutcome::regression) == is_worse);
  // The same in every one of five recordings.
  CHECK((compare_runs(recordings(base, 5, 1), recordings(candidate, 5, 2)).outcome == ComparisonOutcome::regression) ==
        is_worse);
}

TEST_CASE("the gap to an ideal run is that of medians, and closes from 0 to 100 %") {
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
        "closed 40 % of the gap to the ideal run: base 10 steps/s, candidate 16, ideal 25 (traced)");
  CHECK(words_of(20'000, 40'000).starts_with("closed 100 % of the gap"));
  CHECK(words_of(200'000, 40'000).starts_with("closed 0 % of the gap"));
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
  check_found(pipeline(), both, ChangeKind::op_added, "ResizeBilinear is new in the function of ParallelMap, 60 us",
              true);
  // In exchange for another: as much work as before is none the worse, twice as much is.
  check_found(pipeline(), with_op("DecodeImage", 1300), ChangeKind::op_added, "DecodeImage is new", false);
  check_found(pipeline(), with_op("DecodeImage", 2000), ChangeKind::op_added, "DecodeImage is new", true);
  // Too little to slow the pipeline down.
  SummaryBuilder little = pipeline();
  little.runs("ParallelMap", "ResizeBilinear", 20);
  check_found(pipeline(), little, ChangeKind::op_added, "20 us of work a step", false);
  little["ParallelMap"].function_ops.back().durations = durations(100, 1);
  CHECK(find_change(compare_runs({pipeline()}, {little}), ChangeKind::op_added) == nullptr);
  // Only some recordings run it: a branch that is seldom taken.
  CHECK(find_change(compare_runs({pipeline()}, {both, pipeline()}), ChangeKind::op_added) == nullptr);
  CHECK(find_change(compare_runs({pipeline(), both}, {both, both}), ChangeKind::op_added) == nullptr);
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

struct SlowDown {
  double factor;
  std::size_t count;
  bool is_weak;
  ComparisonOutcome outcome;
};

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
  CHECK(find_row(comparison, TimeKind::self, "Root")->reason == "less than 1 % of the pipeline's work");
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

struct FindingCase {
  std::size_t in_base;
  std::size_t in_candidate;
  std::size_t count;
  Severity severity;
  bool is_regression;
};

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

/// Five recordings in which some things take up to 30 % longer.
Recordings random_side(std::mt19937_64& random) {
  SummaryBuilder run = pipeline();
  for (const char* kind : {"Shuffle", "TFRecord", "Batch"}) {
    if (random() % 2 == 0) run.takes(kind, 100 + static_cast<double>(random() % 30));
  }
  return recordings(run, 5, random());
}

std::vector<Difference> differences_of(const RunComparison& comparison) {
  std::vector<std::pair<std::string, Difference>> named;
  for (const TimeRow& row : comparison.rows) {
    named.emplace_back(std::to_string(static_cast<int>(row.kind)) + row.subject + row.op, row.difference);
  }
  std::sort(named.begin(), named.end());
  std::vector<Difference> differences;
  differences.reserve(named.size());
  for (const auto& [name, difference] : named) differences.push_back(difference);
  return differences;
}

TEST_CASE("sides, order and units") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Recordings base = random_side(random);
    const Recordings candidate = random_side(random);
    const RunComparison comparison = compare_runs(base, candidate);
    const std::vector<Difference> differences = differences_of(comparison);

    std::vector<Difference> swapped = differences_of(compare_runs(candidate, base));
    for (Difference& difference : swapped) {
      if (difference == Difference::slower) {
        difference = Difference::faster;
      } else if (difference == Difference::faster) {
        difference = Difference::slower;
      }
    }
    CHECK(swapped == differences);

    const Recordings reversed(base.rbegin(), base.rend());
    const RunComparison in_other_order = compare_runs(reversed, {candidate.rbegin(), candidate.rend()});
    CHECK(differences_of(in_other_order) == differences);
    CHECK(in_other_order.outcome == comparison.outcome);

    Recordings doubled_base;
    Recordings doubled_candidate;
    for (const RunSummary& run : base) doubled_base.push_back(scaled(run, 2));
    for (const RunSummary& run : candidate) doubled_candidate.push_back(scaled(run, 2));
    CHECK(differences_of(compare_runs(doubled_base, doubled_candidate)) == differences);
  }
}

TEST_CASE("a like pipeline beside it changes no difference by much") {
  // Its rows are counted too (Holm), so a clear difference stays one and chance stays chance.
  const auto with_second = [](Recordings runs) {
    for (RunSummary& run : runs) {
      const std::size_t first = run.iterators.size();
      for (const char* kind : {"Root", "Take"}) {
        IteratorSummary iterator;
        iterator.kind = iterator.words = kind;
        iterator.long_name = std::string("Iterator::") + kind;
        iterator.calls = SummaryBuilder::kSteps;
        iterator.parent = run.iterators.size() == first ? kNoIndex : first;
        iterator.self = durations(SummaryBuilder::kSteps, 100);
        run.iterators.push_back(iterator);
      }
    }
    return runs;
  };
  SummaryBuilder candidate = pipeline();
  candidate.takes("Shuffle", 110);
  const Recordings base = recordings(pipeline(), 5, 1);
  const Recordings slower = recordings(candidate, 5, 2);
  const RunComparison alone = compare_runs(base, slower);
  const RunComparison beside = compare_runs(with_second(base), with_second(slower));
  CHECK(alone.outcome == ComparisonOutcome::regression);
  CHECK(beside.outcome == ComparisonOutcome::regression);
  CHECK(find_row(beside, TimeKind::self, "Take")->difference == Difference::same);
}

TEST_CASE("deep recordings are compared in no time") {
  RunSummary deep;
  for (std::size_t index = 0; index < 3000; ++index) {
    IteratorSummary& iterator = deep.iterators.emplace_back();
    iterator.kind = iterator.words = iterator.long_name = index % 2 == 0 ? "Map" : "Batch";
    iterator.parent = index - 1;  // kNoIndex of the first
    iterator.calls = 10;
  }
  CHECK(compare_runs({deep}, {deep}).changes.empty());
}

}  // namespace

}  // namespace doctor::comparison_test
