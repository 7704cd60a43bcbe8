#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "measure/measurements.h"

namespace doctor {

/// How long something takes on several cores.
struct TimeRange {
  Picoseconds least = 0;
  double mean = 0;  ///< picoseconds
  Picoseconds most = 0;
};

/// A step of the run on all its cores. Where several devices of a host ran kernels, each of them is a core: its step
/// ends when it is done with what the step launched on it, and its input is the wait while it computes nothing. Of
/// other hosts the host is the core.
struct StepOnCores {
  std::int64_t number = 0;
  std::size_t core_count = 0;  ///< that have a step of this number
  TimeRange duration;
  TimeRange input;              ///< of that: waiting for input
  std::string longest_waiting;  ///< the core with the most input; the first by name of several. Foreign text
  bool is_boundary = false;     ///< StepMeasurement::is_boundary on one of them
};

/// The steps that markers number, by number: numbers that were counted here say nothing about other hosts. Of a number
/// that comes again on one core the first counts. Needs the profiles of hosts with devices.
std::vector<StepOnCores> measure_steps_on_cores(const Measurements& measurements);

}  // namespace doctor
