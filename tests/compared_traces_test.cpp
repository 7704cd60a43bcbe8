// One edit of a real pipeline is found from one recording of each version. The recordings: testdata/compare/README.md.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "built_paths.h"
#include "compare/comparison.h"
#include "diagnose/catalog.h"
#include "pipeline.h"
#include "summaries.h"

namespace doctor::compared_traces_test {
namespace {

RunSummary summary_of(const std::string& edit, const std::string& side) {
  const std::vector<std::string> files = {source_dir() + "/testdata/compare/" + edit + "/" + side + ".xplane.pb"};
  const Analysis analysis = diagnose_files(files, {.rules = all_rules(), .needs = summary_needs()});
  REQUIRE(analysis.has_readable_file());
  return summarize_run(side, analysis.measurements, analysis.diagnosis);
}

TEST_CASE("each edit is told, and is a regression in one direction only") {
  struct Case {
    std::string edit;
    ChangeKind kind;
    std::string message;
  };
  for (const Case& one : std::vector<Case>{
           {"prefetch_removed", ChangeKind::iterator_removed, "Dataset.prefetch is gone"},
           {"parallelism_lowered", ChangeKind::setting_changed,
            "num_parallel_calls of Dataset.map with num_parallel_calls: 4 -> 1"},
           {"parallelism_removed", ChangeKind::form_changed, "Dataset.map with num_parallel_calls became Dataset.map"},
           {"parallelism_fixed", ChangeKind::setting_changed, "AUTOTUNE (chose 2) -> 1"},
           {"cache_removed", ChangeKind::iterator_removed, "Dataset.cache is gone"},
           {"batch_and_map_swapped", ChangeKind::calls_changed, "is called 8 times a step instead of 1 time"},
           {"batch_and_map_swapped_default", ChangeKind::calls_changed, "is called 8 times a step instead of 1 time"},
       }) {
    CAPTURE(one.edit);
    const RunSummary base = summary_of(one.edit, "base");
    const RunSummary candidate = summary_of(one.edit, "candidate");
    const RunComparison comparison = compare_runs({base}, {candidate});
    CHECK(comparison.outcome == ComparisonOutcome::regression);
    const StructureChange* const change = find_change(comparison, one.kind);
    REQUIRE(change != nullptr);
    CHECK(is_regression(*change));
    CHECK_MESSAGE(change->message.find(one.message) != std::string::npos, change->message);
    const RunComparison undone = compare_runs({candidate}, {base});
    CHECK(undone.outcome == ComparisonOutcome::inconclusive);
    CHECK_FALSE(undone.changes.empty());
  }
}

TEST_CASE("the same pipeline recorded again is no change") {
  const RunSummary base = summary_of("unchanged", "base");
  const RunSummary candidate = summary_of("unchanged", "candidate");
  for (const RunComparison& comparison : {compare_runs({base}, {candidate}), compare_runs({candidate}, {base})}) {
    CHECK(comparison.outcome == ComparisonOutcome::inconclusive);
    for (const StructureChange& change : comparison.changes) CHECK_FALSE(change.is_certain);
  }
}

}  // namespace

}  // namespace doctor::compared_traces_test
