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

}  // namespace doctor
