#pragma once

#include <vector>

#include "compare/aligned_runs.h"
#include "compare/comparison.h"

namespace doctor {

/// The thresholds that the number of recordings decides about.
struct TimeLimits {
  std::size_t needed_count = 0;    ///< recordings a side
  double min_ratio = 1;            ///< effect floor
  double significance = 0;         ///< of one row
  double family_significance = 1;  ///< of all rows of a kind together
};

TimeLimits time_limits(const ComparisonChoice& choice, const ThresholdValues& thresholds);

/// Rows for iterators, their ops, tails and calls, judged; dearest first.
std::vector<TimeRow> compare_times(const AlignedRuns& runs, const TimeLimits& limits,
                                   const ThresholdValues& thresholds);

/// Rows for GetNext and steps of each pipeline, judged where the user asks for it.
std::vector<TimeRow> compare_pipelines(const AlignedRuns& runs, const ComparisonChoice& choice,
                                       const TimeLimits& limits, const ThresholdValues& thresholds);

}  // namespace doctor
