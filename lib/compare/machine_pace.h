#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "compare/comparison_rows.h"
#include "diagnose/threshold.h"

namespace doctor {

/// The factor by which everything is slower in the candidate's recordings, because of the machine and not of the
/// pipeline.
struct Pace {
  double ratio = 1;      ///< candidate / base; 1: the rows do not move together
  double floor = 1;      ///< the largest deviation of single rows from it
  std::size_t rows = 0;  ///< number of rows that it was derived from
  bool is_known = true;  ///< false: the machines differ, and there are too few rows to know it
};

/// The pace of another time on the same machine: the median ratio of the judged rows, if most of them lie around it and
/// it is within the threshold machine_max_ratio.
Pace pace_of_hour(std::span<const TimeRow* const> rows, const ThresholdValues& thresholds);

/// The pace of another machine: the median ratio, however far from 1. Each row is judged relative to all others.
Pace pace_of_machine(std::span<const TimeRow* const> rows, const ThresholdValues& thresholds);

/// The pace in words: "the machine is x1.04 slower".
std::string describe_pace(const Pace& pace);

}  // namespace doctor
