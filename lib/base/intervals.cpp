#include "base/intervals.h"

#include "base/merge.h"

namespace doctor {

std::vector<Interval> merged(std::vector<Interval> intervals) {
  sort_unless_sorted(intervals, [](Interval a, Interval b) { return a.start < b.start; });
  std::size_t kept = 0;  // in place: the rows of a long trace are large
  for (const Interval interval : intervals) {
    if (interval.start >= interval.end) continue;
    if (kept > 0 && interval.start <= intervals[kept - 1].end) {
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, interval.end);
    } else {
      intervals[kept++] = interval;
    }
  }
  intervals.resize(kept);
  return intervals;
}

Picoseconds total_length(std::span<const Interval> intervals) {
  Picoseconds total = 0;
  for (const Interval interval : intervals) total += interval.end - interval.start;
  return total;
}

void clip(Interval interval, std::span<const Interval> windows, std::vector<Interval>& parts) {
  auto window =
      std::partition_point(windows.begin(), windows.end(), [&](Interval other) { return other.end <= interval.start; });
  for (; window != windows.end() && window->start < interval.end; ++window) {
    parts.push_back({std::max(interval.start, window->start), std::min(interval.end, window->end)});
  }
}

std::vector<Interval> gaps_in(Interval window, std::span<const Interval> intervals) {
  std::vector<Interval> gaps;
  Picoseconds covered_until = window.start;
  for (const Interval interval : intervals) {
    if (interval.end <= window.start) continue;
    if (interval.start >= window.end) break;
    if (interval.start > covered_until) gaps.push_back({covered_until, interval.start});
    covered_until = interval.end;
  }
  if (covered_until < window.end) gaps.push_back({covered_until, window.end});
  return gaps;
}

std::vector<Interval> intersected(std::span<const Interval> left, std::span<const Interval> right) {
  std::vector<Interval> both;
  std::size_t first = 0;
  for (const Interval interval : left) {
    while (first < right.size() && right[first].end <= interval.start) ++first;
    for (std::size_t index = first; index < right.size() && right[index].start < interval.end; ++index) {
      both.push_back({std::max(interval.start, right[index].start), std::min(interval.end, right[index].end)});
    }
  }
  return both;
}

void CoveredTime::add(Interval interval) {
  interval.start = std::max(interval.start, covered_until_);
  if (interval.start >= interval.end) return;
  covered_until_ = interval.end;
  while (window_ < windows_.size() && windows_[window_].end <= interval.start) ++window_;
  for (std::size_t index = window_; index < windows_.size() && windows_[index].start < interval.end; ++index) {
    total_ += std::min(interval.end, windows_[index].end) - std::max(interval.start, windows_[index].start);
  }
}

}  // namespace doctor
