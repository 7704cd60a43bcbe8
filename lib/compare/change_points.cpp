#include "compare/change_points.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "base/ranks.h"

namespace doctor {
namespace {

constexpr std::size_t kShortestStretch = 2;
constexpr int kPermutations = 499;

struct Division {
  std::size_t at = 0;
  double distance = 0;
};

/// The division of largest energy distance between what is before and after it: quadratic in the number of values, as
/// sums within and between the parts are carried from one place to the next.
Division best_division(std::span<const double> values) {
  const std::size_t count = values.size();
  double before = 0;  // sums of |difference| of all pairs within each part, and between them
  double after = 0;
  double between = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) after += std::abs(values[i] - values[j]);
  }
  Division best;
  for (std::size_t at = 1; at < count; ++at) {
    double to_before = 0;
    double to_after = 0;
    const double moved = values[at - 1];
    for (std::size_t i = 0; i + 1 < at; ++i) to_before += std::abs(values[i] - moved);
    for (std::size_t i = at; i < count; ++i) to_after += std::abs(values[i] - moved);
    before += to_before;
    after -= to_after;
    between += to_after - to_before;
    if (at < kShortestStretch || count - at < kShortestStretch) continue;
    const auto m = static_cast<double>(at);
    const auto n = static_cast<double>(count - at);
    const double energy = 2 * between / (m * n) - 2 * before / (m * (m - 1)) - 2 * after / (n * (n - 1));
    const double distance = m * n / (m + n) * energy;
    if (distance > best.distance) best = {at, distance};
  }
  return best;
}

/// Whether a division as good would be found in the same values in any order more often than `significance` says. Ends
/// as soon as that is decided, which is after some tens of permutations where there is nothing to find.
bool is_chance(std::span<const double> values, double distance, double significance, std::mt19937_64& random) {
  std::vector<double> shuffled(values.begin(), values.end());
  // The same division in another order has the same distance but for how its sums were rounded.
  const double as_far = distance * (1 - 1e-9);
  const double most = significance * (kPermutations + 1);
  int as_good = 1;
  for (int round = 0; round < kPermutations && as_good <= most; ++round) {
    // Not std::shuffle, whose draws differ between standard libraries.
    for (std::size_t index = shuffled.size(); index > 1; --index) {
      std::swap(shuffled[index - 1], shuffled[random() % index]);
    }
    as_good += best_division(shuffled).distance >= as_far ? 1 : 0;
  }
  return as_good > most;
}

}  // namespace

std::vector<std::size_t> change_points(std::span<const double> values, double significance) {
  const std::size_t left_out = values.size() > kMostHistoryValues ? values.size() - kMostHistoryValues : 0;
  std::vector<std::size_t> points;
  std::vector<std::pair<std::size_t, std::size_t>> open = {{left_out, values.size()}};
  std::mt19937_64 random(1);
  while (!open.empty()) {
    const auto [begin, end] = open.back();
    open.pop_back();
    if (end - begin < 2 * kShortestStretch) continue;
    const std::span<const double> part = values.subspan(begin, end - begin);
    const Division division = best_division(part);
    if (division.distance <= 0 || is_chance(part, division.distance, significance, random)) continue;
    points.push_back(begin + division.at);
    open.emplace_back(begin, begin + division.at);
    open.emplace_back(begin + division.at, end);
  }
  std::sort(points.begin(), points.end());
  return points;
}

std::vector<SeriesChange> changes_of(std::span<const double> values, double significance, double min_ratio) {
  std::vector<SeriesChange> changes;
  if (values.empty()) return changes;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*most <= *least * min_ratio) return changes;  // whatever the order
  std::vector<double> logarithms;
  for (const double value : values) logarithms.push_back(std::log(value));
  std::vector<std::size_t> bounds = change_points(logarithms, significance);
  bounds.insert(bounds.begin(), 0);
  bounds.push_back(values.size());
  for (std::size_t index = 1; index + 1 < bounds.size(); ++index) {
    const std::size_t begin = bounds[index - 1];
    const std::size_t at = bounds[index];
    const std::size_t end = bounds[index + 1];
    const double before = median(values.subspan(begin, at - begin));
    const double after = median(values.subspan(at, end - at));
    if (std::abs(std::log(after / before)) > std::log(min_ratio)) changes.push_back({begin, at, end, before, after});
  }
  return changes;
}

}  // namespace doctor
