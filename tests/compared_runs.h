// Recordings of one small pipeline and what a comparison of two finds.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "compare/comparison.h"
#include "report/comparison_pages.h"
#include "summaries.h"

namespace doctor::comparison_test {

using Recordings = std::vector<RunSummary>;

inline SummaryBuilder pipeline() {
  SummaryBuilder run("Root Prefetch Batch ParallelMap Shuffle TFRecord");
  run.sets("Prefetch", "buffer_limit", 4).sets("Batch", "batch_size", 1).sets("ParallelMap", "parallelism", 8);
  run.runs("ParallelMap", "DecodeJpeg", 1000);
  return run;
}

inline void check_found(const RunSummary& base, const RunSummary& candidate, ChangeKind kind, const std::string& words,
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

}  // namespace doctor::comparison_test
