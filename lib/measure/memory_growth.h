#pragma once

#include "trace/recording_facts.h"
#include "trace/trace.h"

namespace doctor {

/// The growth of a process's memory while its loop runs and the profiler does not, which keeps its events in memory.
/// The first step is left out: in it shuffles are filled and functions are traced.
struct MemoryGrowth {
  std::uint64_t first_step = 0;
  std::uint64_t last_step = 0;
  std::uint64_t first_bytes = 0;  ///< typical memory of the first quarter of these steps
  double bytes_per_step = 0;      ///< from the first to the last quarter; negative: it shrinks
  bool is_steady = false;         ///< it rises from each quarter of the steps to the next

  double bytes() const { return bytes_per_step * static_cast<double>(last_step - first_step); }
};

/// Measures the growth over the steps before the recorded ones, or over those after them if they are more; over all if
/// `recorded` is empty. nullopt if there are too few samples of too few steps to tell growth from chance.
std::optional<MemoryGrowth> memory_growth(const std::vector<MemorySample>& samples,
                                          const std::vector<StepMarker>& recorded);

/// The number of steps until the machine's memory that is left at the last sample is used up at this rate; nullopt if
/// the memory does not grow.
std::optional<double> steps_left(const std::vector<MemorySample>& samples, const MemoryGrowth& growth);

}  // namespace doctor
