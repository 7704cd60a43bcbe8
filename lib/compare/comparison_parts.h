#pragma once

#include <cstddef>
#include <vector>

#include "compare/aligned_runs.h"
#include "compare/comparison_rows.h"
#include "compare/machine_pace.h"
#include "compare/row_judge.h"
#include "compare/sessions.h"
#include "diagnose/threshold.h"

namespace doctor {

// What compare() puts together, each part in a file of its own.

/// Findings that only one side has. A finding may depend on how busy the machine was, so a change of one is certain
/// only where every one of at least `needed_count` recordings a side agrees.
std::vector<StructureChange> find_finding_changes(const AlignedRuns& runs, const ComparisonChoice& choice,
                                                  std::size_t needed_count);

/// Ops that the functions of an iterator run in every candidate recording and in no base recording. For the worse where
/// they add work to the pipeline: by more than `min_ratio`, and where ops went in exchange, by `exchanged_op_min_ratio`
/// over those. Such an op has no row of times, and an iterator that waits for other threads has no own part that would
/// show it.
std::vector<StructureChange> find_function_changes(const AlignedRuns& runs, const ThresholdValues& thresholds);

/// Iterators whose elements take more bytes than they did, or fewer, though what comes into them is as it was: the
/// first of a pipeline, of those that pass larger elements on none. Sizes come from shapes and do not vary, so one
/// recording a side tells. What is `bytes_min_ratio` as large is for the worse.
std::vector<StructureChange> find_size_changes(const AlignedRuns& runs, const ThresholdValues& thresholds);

/// Rows for GetNext and steps of each pipeline, judged where the user asks for it.
std::vector<TimeRow> compare_pipelines(const AlignedRuns& runs, const ComparisonChoice& choice, bool is_other_machine,
                                       const TimeLimits& limits, const ThresholdValues& thresholds);

/// What the recordings have in common besides the pipeline, or have not.
struct TimeConditions {
  Sessions sessions;
  bool is_other_machine = false;
  bool is_across_machines = false;  ///< as of ComparisonChoice
};

struct ComparedTimes {
  std::vector<TimeRow> rows;  ///< dearest first
  Pace pace;                  ///< that they were judged at
};

/// Rows for iterators, their ops, tails and calls, judged.
ComparedTimes compare_times(const AlignedRuns& runs, const TimeConditions& conditions, const TimeLimits& limits,
                            const ThresholdValues& thresholds);

}  // namespace doctor
