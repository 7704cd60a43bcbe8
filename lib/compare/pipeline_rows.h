#pragma once

#include <vector>

#include "compare/aligned_runs.h"
#include "compare/comparison_rows.h"
#include "compare/row_judge.h"
#include "diagnose/threshold.h"

namespace doctor {

/// Rows for GetNext and steps of each pipeline, judged where the user asks for it.
std::vector<TimeRow> compare_pipelines(const AlignedRuns& runs, const ComparisonChoice& choice, bool is_other_machine,
                                       const TimeLimits& limits, const ThresholdValues& thresholds);

}  // namespace doctor
