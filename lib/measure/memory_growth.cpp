#include "measure/memory_growth.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/ranks.h"

namespace doctor {
namespace {

constexpr std::size_t kQuarters = 4;
constexpr std::size_t kLeastSamples = 3;  // of a quarter: one that is off decides nothing then
/// Of a quarter against the mean of all: what a machine at rest takes and gives back is less even.
constexpr double kLeastRise = 0.25;

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

std::optional<MemoryGrowth> memory_growth(const std::vector<MemorySample>& samples) {
  const auto first =
      std::find_if(samples.begin(), samples.end(), [](const MemorySample& sample) { return sample.step > 1; });
  if (first == samples.end()) return std::nullopt;
  MemoryGrowth growth;
  growth.first_step = first->step;
  growth.last_step = samples.back().step;
  const std::uint64_t steps = growth.last_step - growth.first_step + 1;
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
