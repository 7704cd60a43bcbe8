#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace doctor {

// Statistics that depend only on the order of values: nothing is assumed about how times are distributed.

/// The middle value, or the mean of the two in the middle (for integers, rounded towards the smaller); 0 for no values.
template <typename Values>
typename Values::value_type median(const Values& values) {
  std::vector<typename Values::value_type> sorted(values.begin(), values.end());
  if (sorted.empty()) return 0;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : std::midpoint(sorted[middle - 1], sorted[middle]);
}

/// The value with `index` smaller ones before it in order; `index` must be less than their number.
template <typename Value>
Value value_of_rank(std::vector<Value> values, std::size_t index) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index), values.end());
  return values[index];
}

/// The value that `share` of the values do not exceed (nearest rank); 0 for no values.
template <typename Value>
Value quantile(std::vector<Value> values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const std::size_t index = std::clamp<std::size_t>(rank, 1, values.size()) - 1;
  return value_of_rank(std::move(values), index);
}

/// The same with the rank rounded down: with a share below 1 it is never the largest of several. 0 for no values.
template <typename Value>
Value lower_quantile(std::vector<Value> values, double share) {
  if (values.empty()) return 0;
  const auto index = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  return value_of_rank(std::move(values), index);
}

// Statistical tests for a handful of recordings.

/// One-sided exact Mann-Whitney test: the probability that values of `candidate` rank this high above those of `base`
/// if both come from the same distribution. Ties count half. The distribution is that of these very ranks, over all
/// ways to assign them to the two sides, so it is exact with ties as well. Returns 1 if either is empty. Exact for up
/// to 20 values a side; above that, the normal approximation with its corrections for ties and continuity. Source: Mann
/// and Whitney 1947; Lehmann, Nonparametrics, 1.4.
double mann_whitney_above(std::span<const double> base, std::span<const double> candidate);

/// The smallest value that mann_whitney_above() can return for so many recordings: 1 / (number of ways to assign them).
double smallest_p_value(std::size_t base, std::size_t candidate);

/// p-values adjusted for testing all of them (Holm 1979), in the order given.
std::vector<double> holm_adjusted(std::span<const double> p_values);

struct RatioInterval {
  double low = 0;
  double high = 0;
  double confidence = 0;  ///< the probability that the interval covers the ratio, 0..1
};

/// Interval for the ratio candidate / base of positive values, from the ordered ratios of all pairs (Hodges and Lehmann
/// 1963; Lehmann, Nonparametrics, 2.6, on logarithms): the narrowest that covers with 95 %, else the widest there is.
/// nullopt if either is empty.
std::optional<RatioInterval> ratio_interval(std::span<const double> base, std::span<const double> candidate);

/// The number of recordings per side with which a Mann-Whitney test at `significance` has a power of 90 % to detect an
/// effect of this size. `above` is the observed probability that a candidate's value exceeds a base's (Noether 1987).
/// nullopt if `above` is not more than chance, or if no number reaches `significance`. Never less than what
/// smallest_p_value() requires.
std::optional<std::size_t> recordings_needed(double above, double significance);

/// The share of all pairs in which the candidate's value exceeds the base's; ties count half. 0.5 is chance.
double share_above(std::span<const double> base, std::span<const double> candidate);

}  // namespace doctor
