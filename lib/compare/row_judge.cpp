#include "compare/row_judge.h"

#include <algorithm>

namespace doctor {
namespace {

/// A p-value that equals a threshold on paper may miss it by the last bit.
constexpr double kRounding = 1e-9;

/// What the candidate's readings would be on a machine of the base's pace.
std::vector<double> at_pace_of_base(const TimeRow& row) {
  std::vector<double> readings = row.candidate;
  for (double& reading : readings) reading /= row.pace;
  return readings;
}

bool is_above(const Floor& floor, double base, double candidate) {
  return candidate > floor.ratio * base && candidate - base > floor.increase;
}

bool is_significant(double p_value, double adjusted, const TimeLimits& limits) {
  return p_value <= limits.significance + kRounding && adjusted <= limits.family_significance + kRounding;
}

/// Why a row that is neither slower nor faster is what it is.
void explain(TimeRow& row, const Floor& floor, std::size_t family_size, const TimeLimits& limits) {
  if (row.interval && row.interval->low / row.pace > 1 / floor.ratio && row.interval->high / row.pace < floor.ratio) {
    row.difference = Difference::same;
    return;
  }
  const double candidate = row.candidate_median / row.pace;
  const bool seems_slower = is_above(floor, row.base_median, candidate);
  const bool seems_faster = is_above(floor, candidate, row.base_median);
  if (!seems_slower && !seems_faster) {
    row.reason = "the medians differ by less than the recordings among each other";
    return;
  }
  const double above = share_above(row.base, at_pace_of_base(row));
  const double level = std::min(limits.significance, limits.family_significance / static_cast<double>(family_size));
  row.needed = recordings_needed(seems_slower ? above : 1 - above, level);
  row.reason = "may be chance";
}

}  // namespace

TimeLimits time_limits(const ComparisonChoice& choice, const ThresholdValues& thresholds) {
  if (!choice.is_weak) {
    return {static_cast<std::size_t>(thresholds["min_recordings"]), thresholds["min_ratio"], thresholds["significance"],
            thresholds["family_significance"]};
  }
  return {static_cast<std::size_t>(thresholds["weak_min_recordings"]), thresholds["weak_min_ratio"],
          thresholds["weak_significance"], 1};
}

void compare_readings(TimeRow& row) {
  row.base_median = median(row.base);
  row.candidate_median = median(row.candidate);
  row.p_value = mann_whitney_above(row.base, at_pace_of_base(row));
  const auto is_positive = [](double value) { return value > 0; };
  const bool have_ratios = std::all_of(row.base.begin(), row.base.end(), is_positive) &&
                           std::all_of(row.candidate.begin(), row.candidate.end(), is_positive);
  if (have_ratios && row.kind != TimeKind::tail) row.interval = ratio_interval(row.base, row.candidate);
}

void judge_rows(const std::vector<TimeRow*>& family, const Floor& floor, const TimeLimits& limits) {
  std::vector<double> slower;
  std::vector<double> faster;
  slower.reserve(family.size());
  faster.reserve(family.size());
  for (const TimeRow* const row : family) {
    slower.push_back(row->p_value);
    faster.push_back(mann_whitney_above(at_pace_of_base(*row), row->base));
  }
  const std::vector<double> adjusted_slower = holm_adjusted(slower);
  const std::vector<double> adjusted_faster = holm_adjusted(faster);
  for (std::size_t index = 0; index < family.size(); ++index) {
    TimeRow& row = *family[index];
    row.adjusted_p_value = adjusted_slower[index];
    const bool is_slower = is_significant(slower[index], adjusted_slower[index], limits);
    const bool is_faster = is_significant(faster[index], adjusted_faster[index], limits);
    const Floor floor_of_row = {std::max(floor.ratio, row.min_ratio), floor.increase};
    const double candidate = row.candidate_median / row.pace;
    if (is_slower && is_above(floor_of_row, row.base_median, candidate)) {
      row.difference = Difference::slower;
    } else if (is_faster && is_above(floor_of_row, candidate, row.base_median)) {
      row.difference = Difference::faster;
    } else {
      explain(row, floor_of_row, family.size(), limits);
    }
  }
}

}  // namespace doctor
