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

// The parts of compare(), each in a file of its own.

/// Findings that only one side has. A finding may depend on how busy the machine was, so such a change is certain only
/// if every one of at least `needed_count` recordings a side agrees.
std::vector<StructureChange> find_finding_changes(const AlignedRuns& runs, const ComparisonChoice& choice,
                                                  std::size_t needed_count);

/// Ops that the functions of an iterator run in every candidate recording and in no base recording. They count as worse
/// if they add work to the pipeline: more than `min_ratio`, or if other ops were removed in exchange, more than
/// `exchanged_op_min_ratio` over those. Such an op has no row of times, and an iterator that waits for other threads
/// has no own part that would show it.
std::vector<StructureChange> find_function_changes(const AlignedRuns& runs, const ThresholdValues& thresholds);

/// Iterators whose elements take more bytes than before, or fewer, although their input is the same. Only the first of
/// a pipeline counts, not those that pass the larger elements on. Sizes come from shapes and do not vary, so one
/// recording a side is enough. Elements that are `bytes_min_ratio` times as large count as worse.
std::vector<StructureChange> find_size_changes(const AlignedRuns& runs, const ThresholdValues& thresholds);

/// Rows for GetNext and steps of each pipeline, judged if the user asks for it.
std::vector<TimeRow> compare_pipelines(const AlignedRuns& runs, const ComparisonChoice& choice, bool is_other_machine,
                                       const TimeLimits& limits, const ThresholdValues& thresholds);

/// The circumstances that the recordings share besides the pipeline, or do not share.
struct TimeConditions {
  Sessions sessions;
  bool is_other_machine = false;
  bool is_across_machines = false;  ///< as in ComparisonChoice
};

struct ComparedTimes {
  std::vector<TimeRow> rows;  ///< dearest first
  Pace pace;                  ///< the pace at which they were judged
};

/// Rows for iterators, their ops, tails and calls, judged.
ComparedTimes compare_times(const AlignedRuns& runs, const TimeConditions& conditions, const TimeLimits& limits,
                            const ThresholdValues& thresholds);

}  // namespace doctor
