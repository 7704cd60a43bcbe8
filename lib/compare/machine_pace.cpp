#include "compare/machine_pace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/ranks.h"

namespace doctor {
namespace {

/// Rows without which nothing can be said about all.
constexpr std::size_t kFewestRows = 4;

/// Of the rows, those that must lie around the median for it to be the pace of all.
constexpr double kMostRows = 0.75;

/// Rows that are as far from 1 as half the median, or as one and a half times it, move with it.
constexpr double kAround = 0.5;

/// A median deviation, of values that are distributed normally, times this is their standard deviation.
constexpr double kDeviations = 1.4826;

std::vector<double> logarithms(std::span<const TimeRow* const> rows) {
  std::vector<double> values;
  for (const TimeRow* const row : rows) {
    if (row->ratio() > 0) values.push_back(std::log(row->ratio()));
  }
  return values;
}

}  // namespace

Pace pace_of_hour(std::span<const TimeRow* const> rows, const ThresholdValues& thresholds) {
  const std::vector<double> values = logarithms(rows);
  if (values.size() < kFewestRows) return {};
  const double middle = median(values);
  const auto around = std::count_if(values.begin(), values.end(), [&](double value) {
    return std::abs(value - middle) <= kAround * std::abs(middle);
  });
  const bool is_common = static_cast<double>(around) >= kMostRows * static_cast<double>(values.size());
  if (!is_common || std::abs(middle) > std::log(thresholds["machine_max_ratio"])) return {};
  return {.ratio = std::exp(middle), .floor = 1, .rows = values.size()};
}

Pace pace_of_machine(std::span<const TimeRow* const> rows, const ThresholdValues& thresholds) {
  const std::vector<double> values = logarithms(rows);
  if (values.size() < kFewestRows) return {.is_known = false};
  const double middle = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - middle));
  const double spread = kDeviations * median(deviations);
  return {.ratio = std::exp(middle), .floor = std::exp(thresholds["spread_errors"] * spread), .rows = values.size()};
}

std::string describe_pace(const Pace& pace) {
  const bool is_slower = pace.ratio >= 1;
  return fmt::format("the machine is {:.3g}x {}", is_slower ? pace.ratio : 1 / pace.ratio,
                     is_slower ? "slower" : "faster");
}

}  // namespace doctor
