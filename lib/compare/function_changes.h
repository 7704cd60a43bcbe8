#pragma once

#include <vector>

#include "compare/aligned_runs.h"
#include "compare/comparison_rows.h"
#include "diagnose/threshold.h"

namespace doctor {

/// Ops that the functions of an iterator run in every candidate recording and in no base recording. For the worse where
/// they add work to the pipeline: by more than `min_ratio`, and where ops went in exchange, by `exchanged_op_min_ratio`
/// over those. Such an op has no row of times, and an iterator that waits for
/// other threads has no own part that would show it.
std::vector<StructureChange> find_function_changes(const AlignedRuns& runs, const ThresholdValues& thresholds);

}  // namespace doctor
