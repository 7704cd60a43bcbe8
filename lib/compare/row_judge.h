#pragma once

#include <cstddef>
#include <vector>

#include "compare/comparison_rows.h"
#include "diagnose/threshold.h"

namespace doctor {

/// The reason why times of recordings from other machines are not judged.
inline constexpr const char* kOtherMachine = "recorded on another machine";

/// The thresholds that depend on the number of recordings.
struct TimeLimits {
  std::size_t needed_count = 0;    ///< recordings a side
  double min_ratio = 1;            ///< effect floor
  double significance = 0;         ///< of one row
  double family_significance = 1;  ///< of all rows of a kind together
};

TimeLimits time_limits(const ComparisonChoice& choice, const ThresholdValues& thresholds);

/// The minimum effect for a row to count as different, in its own unit.
struct Floor {
  double ratio = 1;     ///< candidate / base
  double increase = 0;  ///< candidate - base
};

/// Fills in what follows from the readings alone: medians, the interval of their ratio, the p-value.
void compare_readings(TimeRow& row);

/// Judges rows with readings: the difference, or why nothing can be said. Rows that are judged together must be passed
/// together, because their number counts.
void judge_rows(const std::vector<TimeRow*>& family, const Floor& floor, const TimeLimits& limits);

}  // namespace doctor
