#pragma once

#include <algorithm>
#include <cstddef>

namespace doctor {

/// First index in [0, size) for which `is_before(index)` is false, as std::partition_point, looked for in growing
/// steps from `hint`: a row of searches that moves with time costs a few comparisons each instead of a binary search
/// over a table that does not fit into the cache.
template <typename Predicate>
std::size_t partition_point_near(std::size_t size, std::size_t hint, Predicate is_before) {
  std::size_t low = std::min(hint, size);  // all before it are before, once the steps have ended
  std::size_t high = low;                  // neither it nor what follows is before, likewise
  if (low < size && is_before(low)) {
    ++low;
    for (std::size_t step = 1; true; step *= 2) {
      high = std::min(low + step, size);
      if (high == size || !is_before(high)) break;
      low = high + 1;
    }
  } else {
    for (std::size_t step = 1; high > 0; step *= 2) {
      low = high - std::min(high, step);
      if (is_before(low)) {
        ++low;
        break;
      }
      high = low;
    }
  }
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (is_before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace doctor
