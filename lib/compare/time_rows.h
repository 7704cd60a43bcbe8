#pragma once

#include <vector>

#include "compare/aligned_runs.h"
#include "compare/comparison_rows.h"
#include "compare/machine_pace.h"
#include "compare/row_judge.h"
#include "compare/sessions.h"
#include "diagnose/threshold.h"

namespace doctor {

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
