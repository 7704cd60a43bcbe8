#pragma once

#include <vector>

#include "base/chunked_vector.h"

namespace doctor {

/// Sorts rows that are sorted already, or that are sorted rows one after another, such as those of threads: these are
/// merged. Equal items may change places.
template <typename Item, typename Before>
void sort_unless_sorted(std::vector<Item>& row, Before before) {
  constexpr std::size_t kShortest = 16;  // on average: merging many short ones takes longer than sorting
  std::vector<typename std::vector<Item>::iterator> ends = {row.begin()};
  while (ends.back() != row.end()) {
    ends.push_back(std::is_sorted_until(ends.back(), row.end(), before));
    if (kShortest * ends.size() > row.size() + 2 * kShortest) return std::sort(row.begin(), row.end(), before);
  }
  for (std::size_t distance = 1; distance + 1 < ends.size(); distance *= 2) {
    for (std::size_t first = 0; first + distance + 1 < ends.size(); first += 2 * distance) {
      const std::size_t last = std::min(first + 2 * distance, ends.size() - 1);
      std::inplace_merge(ends[first], ends[first + distance], ends[last], before);
    }
  }
}

/// Sorts as above, and equal items keep their order.
template <typename Item, typename Before>
void stable_sort_unless_sorted(std::vector<Item>& row, Before before) {
  if (!std::is_sorted(row.begin(), row.end(), before)) std::stable_sort(row.begin(), row.end(), before);
}

/// Sorts a row in chunks as above.
template <typename Item, typename Before>
void stable_sort_unless_sorted(ChunkedVector<Item>& row, Before before) {
  std::size_t in_order = std::min<std::size_t>(row.size(), 1);
  while (in_order < row.size() && !before(row[in_order], row[in_order - 1])) ++in_order;
  if (in_order == row.size()) return;
  std::vector<Item> sorted;
  sorted.reserve(row.size());
  for (std::size_t index = 0; index < row.size(); ++index) sorted.push_back(row[index]);
  std::stable_sort(sorted.begin(), sorted.end(), before);
  for (std::size_t index = 0; index < row.size(); ++index) row[index] = sorted[index];
}

/// Calls `visit(cursor)` for every item of several sorted rows, in their common order. A cursor points at an item of
/// its row and has `done()`, `next()` and `operator<`, which must order all items strictly.
template <typename Cursor, typename Visit>
void visit_merged(std::vector<Cursor> cursors, Visit visit) {
  std::erase_if(cursors, [](const Cursor& cursor) { return cursor.done(); });
  std::make_heap(cursors.begin(), cursors.end(), [](const Cursor& a, const Cursor& b) { return b < a; });
  while (!cursors.empty()) {
    visit(std::as_const(cursors.front()));
    cursors.front().next();
    if (cursors.front().done()) {
      std::swap(cursors.front(), cursors.back());
      cursors.pop_back();
    }
    // A heap of our own: the standard library's cannot replace its top in one step, and items that are neighbours in
    // time often come from one row.
    for (std::size_t parent = 0, child = 1; child < cursors.size(); parent = child, child = 2 * parent + 1) {
      if (child + 1 < cursors.size() && cursors[child + 1] < cursors[child]) ++child;
      if (!(cursors[child] < cursors[parent])) break;
      std::swap(cursors[child], cursors[parent]);
    }
  }
}

}  // namespace doctor
