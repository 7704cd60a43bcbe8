// Edits of a real pipeline, one recording of each version: each is named with its line, and nothing else is called new,
// gone, slower or faster. The recordings: testdata/edits/README.md.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "built_paths.h"
#include "compare/comparison.h"
#include "diagnose/catalog.h"
#include "pipeline.h"
#include "summaries.h"

namespace doctor::edited_pipelines_test {
namespace {

RunSummary summary_of(const std::string& edit, const std::string& side) {
  const std::vector<std::string> files = {source_dir() + "/testdata/edits/" + edit + "/" + side + "/vm.xplane.pb.gz"};
  const Analysis analysis = diagnose_files(files, {.rules = all_rules(), .needs = summary_needs()});
  REQUIRE(analysis.has_readable_file());
  return summarize_run(side, analysis.measurements, analysis.diagnosis);
}

bool is_of_finding(const StructureChange& change) {
  return change.kind == ChangeKind::finding_new || change.kind == ChangeKind::finding_gone;
}

struct Told {
  std::string message;  ///< a part of it
  std::uint64_t line = 0;
};

struct Edit {
  std::string name;
  ComparisonOutcome outcome = ComparisonOutcome::regression;
  std::vector<Told> told;  ///< every change but those of findings and what is uncertain
};

TEST_CASE("each edit is told with its line, and nothing else") {
  for (const Edit& edit : std::vector<Edit>{
           {"op_added", ComparisonOutcome::regression, {{"AvgPool is new in the function", 16}}},
           {"op_doubled",
            ComparisonOutcome::regression,
            {{"DecodeJpeg runs 2x as often in", 16}, {"AddV2 is new in the function", 16}}},
           {"augmentation", ComparisonOutcome::regression, {{"RandomUniform is new in the function", 16}}},
           {"repeat_in_function", ComparisonOutcome::regression, {{"ResizeBilinear runs 4x as often in", 16}}},
           {"larger_op", ComparisonOutcome::regression, {{"elements of map + batch: 111 kB -> 1.77 MB (16x)", 15}}},
           {"batch_size", ComparisonOutcome::inconclusive, {{"batch_size of", 15}}},
           {"second_map", ComparisonOutcome::regression, {{"is new below Dataset.prefetch", 16}, {"became", 15}}},
           {"map_before", ComparisonOutcome::regression, {{"is new below map + batch", 15}}},
           {"parallelism_lost", ComparisonOutcome::regression, {{"num_parallel_calls of", 15}}},
           {"filter_added",
            ComparisonOutcome::regression,
            {{"Dataset.filter is new", 16}, {"became", 15}, {"no longer fused with its map", 17}}},
           {"file_format",
            ComparisonOutcome::regression,
            {{"DecodeBase64 is new in the function", 15},
             {"TFRecordDataset is gone", 14},
             {"TextLineDataset is new", 14}}},
           {"prefetch_lost", ComparisonOutcome::regression, {{"Dataset.prefetch is gone; it was at the top", 17}}},
       }) {
    CAPTURE(edit.name);
    const RunComparison comparison =
        compare_runs({summary_of(edit.name, "base")}, {summary_of(edit.name, "candidate")});
    CHECK(comparison.outcome == edit.outcome);
    std::size_t next = 0;
    for (const StructureChange& change : comparison.changes) {
      if (is_of_finding(change) || !change.is_certain) continue;
      CAPTURE(change.message);
      REQUIRE(next < edit.told.size());
      CHECK(change.message.find(edit.told[next].message) != std::string::npos);
      REQUIRE(change.source);
      CHECK(change.source->line == edit.told[next].line);
      ++next;
    }
    CHECK(next == edit.told.size());
    for (const TimeRow& row : comparison.rows) CHECK(row.difference == Difference::unknown);
  }
}

TEST_CASE("a cache that is lost is told, and what it kept is not new") {
  const RunComparison comparison =
      compare_runs({summary_of("cache_lost", "base")}, {summary_of("cache_lost", "candidate")});
  CHECK(comparison.outcome == ComparisonOutcome::regression);
  REQUIRE_FALSE(comparison.changes.empty());
  CHECK(comparison.changes[0].message.starts_with("Dataset.cache is gone"));
  for (const StructureChange& change : comparison.changes) {
    CHECK_MESSAGE(change.message.find(" is new ") == std::string::npos, change.message);
  }
}

}  // namespace
}  // namespace doctor::edited_pipelines_test
