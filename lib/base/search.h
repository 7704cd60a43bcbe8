#pragma once

#include <algorithm>
#include <cstddef>

namespace doctor {

/// The first index in [0, size) for which `is_before(index)` is false, as std::partition_point finds it, searched in
/// growing steps from `hint`. Searches whose answers move with time cost a few comparisons each; a binary search would
/// go through a table that does not fit into the cache.
template <typename Predicate>
std::size_t partition_point_near(std::size_t size, std::size_t hint, Predicate is_before) {
  std::size_t low = std::min(hint, size);  // after the growing steps, everything before `low` is before
  std::size_t high = low;                  // likewise, nothing from `high` on is before
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
