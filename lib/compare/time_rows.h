#pragma once

#include <vector>

#include "compare/aligned_runs.h"
#include "compare/comparison_rows.h"
#include "compare/row_judge.h"
#include "diagnose/threshold.h"

namespace doctor {

/// Rows for iterators, their ops, tails and calls, judged; dearest first.
std::vector<TimeRow> compare_times(const AlignedRuns& runs, const TimeLimits& limits,
                                   const ThresholdValues& thresholds);

}  // namespace doctor
