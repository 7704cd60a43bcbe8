#pragma once

#include "measure/measurements.h"

namespace doctor {

/// The range of a time over several cores.
struct TimeRange {
  Picoseconds least = 0;
  double mean = 0;  ///< picoseconds
  Picoseconds most = 0;
};

/// A step of the run on all its cores. If several devices of a host ran kernels, each of them is a core: its step ends
/// when it has finished what the step launched on it, and its input is the wait during which it computes nothing.
/// Otherwise the host is the core.
struct StepOnCores {
  std::int64_t number = 0;
  std::size_t core_count = 0;  ///< cores that have a step with this number
  TimeRange duration;
  TimeRange input;              ///< the part of the step that waits for input
  std::string longest_waiting;  ///< the core with the most input, the first by name if there are several. Foreign text
  bool is_boundary = false;     ///< StepMeasurement::is_boundary on one of them
};

/// The steps that markers number, by number. Steps that were only counted are left out: their numbers mean nothing on
/// other hosts. If a number recurs on one core, its first step counts. Needs the profiles of hosts with devices.
std::vector<StepOnCores> measure_steps_on_cores(const Measurements& measurements);

}  // namespace doctor
