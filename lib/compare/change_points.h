#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace doctor {

/// Where a series of numbers becomes another one: indices of the first value of each new stretch, ascending. A stretch
/// has at least two values. The order of the values is that of time; nothing is assumed about how they are distributed.
/// Source: E-divisive (Matteson and James, JASA 2014): the division with the largest energy distance, again and again
/// within the parts, as long as a permutation test calls it no chance at `significance`. Its permutations are drawn
/// with a fixed seed, so the same series has the same points. Of more than kMostHistoryValues the last ones count.
std::vector<std::size_t> change_points(std::span<const double> values, double significance);

inline constexpr std::size_t kMostHistoryValues = 400;

/// A place at which a series of positive numbers becomes another one, by so much that it matters.
struct SeriesChange {
  std::size_t begin = 0;  ///< of the stretch before
  std::size_t at = 0;     ///< the first value of the new stretch
  std::size_t end = 0;    ///< of it
  double before = 0;      ///< medians of the two
  double after = 0;
};

/// The change_points() of the logarithms, for what counts is how many times as long something takes: those whose
/// medians differ by a factor of more than `min_ratio`.
std::vector<SeriesChange> changes_of(std::span<const double> values, double significance, double min_ratio);

}  // namespace doctor
