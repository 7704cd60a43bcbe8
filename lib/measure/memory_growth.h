#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/memory_samples.h"
#include "trace/trace.h"

namespace doctor {

/// How the memory of a process changes while its loop runs and the profiler does not, which keeps its events in memory:
/// megabytes in each step. The first step is left out: in it shuffles are filled and functions are traced.
struct MemoryGrowth {
  std::uint64_t first_step = 0;
  std::uint64_t last_step = 0;
  std::uint64_t first_bytes = 0;  ///< the typical memory of the first quarter of these steps
  double bytes_per_step = 0;      ///< from the first to the last quarter; negative: it shrinks
  bool is_steady = false;         ///< it rises from each quarter of the steps to the next one

  double bytes() const { return bytes_per_step * static_cast<double>(last_step - first_step); }
};

/// Of the steps before the recorded ones, or of those after them where they are more; of all where `recorded` is empty.
/// nullopt where there are too few samples of too few steps to tell growth from chance.
std::optional<MemoryGrowth> memory_growth(const std::vector<MemorySample>& samples,
                                          const std::vector<StepMarker>& recorded);

/// Steps until the memory that the machine has left at the last sample is used up at this rate; nullopt where it does
/// not grow.
std::optional<double> steps_left(const std::vector<MemorySample>& samples, const MemoryGrowth& growth);

}  // namespace doctor
