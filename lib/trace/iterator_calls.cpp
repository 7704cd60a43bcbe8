#include "trace/iterator_calls.h"

#include "base/merge.h"

namespace doctor {

void IteratorCalls::close_large(std::uint32_t row) {
  large_.push_back({row, static_cast<std::uint32_t>(calls_.size())});
}

/// They were closed from the inside out.
void IteratorCalls::finish() {
  stable_sort_unless_sorted(large_, [](const LargeSubtree& a, const LargeSubtree& b) { return a.row < b.row; });
}

std::uint32_t IteratorCalls::end_of_large(std::uint32_t row) const {
  return large_[large_.partition_point(0, [&](const LargeSubtree& one) { return one.row < row; })].end;
}

}  // namespace doctor
