// What holds for the comparison of any recordings: nothing hangs on sides, order or units.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compared_runs.h"
#include "report/comparison_pages.h"
#include "summaries.h"

namespace doctor::comparison_test {
namespace {

/// Five recordings in which some things take up to 30% longer.
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
