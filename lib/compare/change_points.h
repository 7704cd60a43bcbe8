#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace doctor {

/// The places at which a series of numbers changes: indices of the first value of each new stretch, ascending. A
/// stretch has at least two values. Values are in order of time; nothing is assumed about their distribution. Source:
/// E-divisive (Matteson and James, JASA 2014): the division with the largest energy distance, repeated within the parts
/// as long as a permutation test rejects chance at `significance`. Its permutations are drawn with a fixed seed, so the
/// same series has the same points. Only the last kMostHistoryValues values count.
std::vector<std::size_t> change_points(std::span<const double> values, double significance);

inline constexpr std::size_t kMostHistoryValues = 400;

/// A place at which a series of positive numbers changes by so much that it matters.
struct SeriesChange {
  std::size_t begin = 0;  ///< of the stretch before
  std::size_t at = 0;     ///< the first value of the new stretch
  std::size_t end = 0;    ///< of the new stretch
  double before = 0;      ///< medians of the two
  double after = 0;
};

/// The change_points() of the logarithms, because ratios of times matter. Only changes count whose medians differ by a
/// factor of more than `min_ratio`.
std::vector<SeriesChange> changes_of(std::span<const double> values, double significance, double min_ratio);

}  // namespace doctor
