#include "trace/iterator_calls.h"

#include <algorithm>
#include <vector>

namespace doctor {

void IteratorCalls::close_large(std::uint32_t row) {
  large_.push_back({row, static_cast<std::uint32_t>(calls_.size())});
}

/// They were closed from the inside out.
void IteratorCalls::finish() {
  std::vector<LargeSubtree> sorted;
  sorted.reserve(large_.size());
  for (std::size_t index = 0; index < large_.size(); ++index) sorted.push_back(large_[index]);
  std::sort(sorted.begin(), sorted.end(), [](const LargeSubtree& a, const LargeSubtree& b) { return a.row < b.row; });
  for (std::size_t index = 0; index < large_.size(); ++index) large_[index] = sorted[index];
}

std::uint32_t IteratorCalls::end_of_large(std::uint32_t row) const {
  return large_[large_.partition_point(0, [&](const LargeSubtree& one) { return one.row < row; })].end;
}

}  // namespace doctor
