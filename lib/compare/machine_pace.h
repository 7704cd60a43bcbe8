#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "compare/comparison_rows.h"
#include "diagnose/threshold.h"

namespace doctor {

/// How much slower everything is in the candidate's recordings: a matter of the machine, not of the pipeline.
struct Pace {
  double ratio = 1;      ///< candidate / base; 1: the rows do not move together
  double floor = 1;      ///< maximum by which single rows stray from it
  std::size_t rows = 0;  ///< that it was read off
  bool is_known = true;  ///< false: other machines, and too few rows to know it
};

/// The median ratio of the rows that are judged, where most of them lie around it and it is within the threshold
/// machine_max_ratio: another hour.
Pace pace_of_hour(std::span<const TimeRow* const> rows, const ThresholdValues& thresholds);

/// The median ratio, however far from 1: another machine. Each row is held against all others.
Pace pace_of_machine(std::span<const TimeRow* const> rows, const ThresholdValues& thresholds);

/// "the machine is x1.04 slower".
std::string describe_pace(const Pace& pace);

}  // namespace doctor
