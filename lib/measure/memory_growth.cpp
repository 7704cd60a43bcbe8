#include "measure/memory_growth.h"

#include <array>

#include "base/ranks.h"

namespace doctor {
namespace {

constexpr std::size_t kQuarters = 4;      // growth must go on in each of them
constexpr std::size_t kLeastSamples = 3;  // of a quarter: one that is off decides nothing then
/// Of a quarter against the mean of all: what a machine at rest takes and gives back is less even.
constexpr double kLeastRise = 0.25;

/// Buffers and the allocator fill in the first steps, which is not growth.
constexpr std::uint64_t kLeastSteps = 20;

using Samples = std::vector<MemorySample>;

/// The samples while the profiler was off: those before the recorded steps, or those after them.
Samples without_profiler(const Samples& samples, const std::vector<StepMarker>& recorded) {
  if (recorded.empty()) return samples;
  const auto by_number = [](const StepMarker& a, const StepMarker& b) { return a.number < b.number; };
  const auto [first, last] = std::minmax_element(recorded.begin(), recorded.end(), by_number);
  Samples before;
  Samples after;
  for (const MemorySample& sample : samples) {
    const auto step = static_cast<std::int64_t>(sample.step);
    if (step < first->number) before.push_back(sample);
    if (step > last->number) after.push_back(sample);
  }
  return after.size() > before.size() ? after : before;
}

struct Quarter {
  std::vector<double> bytes;
  std::vector<double> steps;
};

/// That of the upper half where two are in the middle: one that was sampled.
double middle_of(const std::vector<double>& values) {
  return value_of_rank(values, values.size() / 2);
}

bool is_steady(const std::array<double, kQuarters>& levels) {
  const double mean_rise = (levels.back() - levels.front()) / (kQuarters - 1);
  for (std::size_t quarter = 1; quarter < kQuarters; ++quarter) {
    if (levels[quarter] - levels[quarter - 1] < kLeastRise * mean_rise) return false;
  }
  return mean_rise > 0;
}

}  // namespace

std::optional<MemoryGrowth> memory_growth(const Samples& all, const std::vector<StepMarker>& recorded) {
  const Samples samples = without_profiler(all, recorded);
  const auto first =
      std::find_if(samples.begin(), samples.end(), [](const MemorySample& sample) { return sample.step > 1; });
  if (first == samples.end()) return std::nullopt;
  MemoryGrowth growth;
  growth.first_step = first->step;
  growth.last_step = samples.back().step;
  const std::uint64_t steps = growth.last_step - growth.first_step + 1;
  if (steps < kLeastSteps) return std::nullopt;
  std::array<Quarter, kQuarters> quarters;
  for (auto sample = first; sample != samples.end(); ++sample) {
    const double part = static_cast<double>(sample->step - growth.first_step) / static_cast<double>(steps);
    Quarter& quarter = quarters[std::min(static_cast<std::size_t>(part * kQuarters), kQuarters - 1)];
    quarter.bytes.push_back(static_cast<double>(sample->rss_bytes));
    quarter.steps.push_back(static_cast<double>(sample->step));
  }
  std::array<double, kQuarters> levels{};
  for (std::size_t quarter = 0; quarter < kQuarters; ++quarter) {
    if (quarters[quarter].bytes.size() < kLeastSamples) return std::nullopt;
    levels[quarter] = middle_of(quarters[quarter].bytes);
  }
  growth.first_bytes = static_cast<std::uint64_t>(levels.front());
  growth.bytes_per_step =
      (levels.back() - levels.front()) / (middle_of(quarters.back().steps) - middle_of(quarters.front().steps));
  growth.is_steady = is_steady(levels);
  return growth;
}

std::optional<double> steps_left(const std::vector<MemorySample>& samples, const MemoryGrowth& growth) {
  if (samples.empty() || growth.bytes_per_step <= 0) return std::nullopt;
  return static_cast<double>(samples.back().available_bytes) / growth.bytes_per_step;
}

}  // namespace doctor
