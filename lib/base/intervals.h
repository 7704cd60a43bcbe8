#pragma once

#include <span>
#include <vector>

#include "base/time.h"

namespace doctor {

/// Sorts the intervals and merges those that overlap or touch; empty ones are dropped.
std::vector<Interval> merged(std::vector<Interval> intervals);

/// Sum of the lengths of disjoint intervals.
Picoseconds total_length(std::span<const Interval> intervals);

/// Appends the parts of `interval` that lie in `windows` (disjoint, sorted).
void clip(Interval interval, std::span<const Interval> windows, std::vector<Interval>& parts);

/// The parts of `window` that lie in none of the intervals (disjoint, sorted).
std::vector<Interval> gaps_in(Interval window, std::span<const Interval> intervals);

/// The intersection of two rows of disjoint sorted intervals.
std::vector<Interval> intersected(std::span<const Interval> left, std::span<const Interval> right);

/// The time that a row of intervals, sorted by start, covers inside disjoint sorted windows. Each moment counts once.
class CoveredTime {
 public:
  explicit CoveredTime(std::span<const Interval> windows) : windows_(windows) {}

  /// Adds an interval. Starts must not decrease.
  void add(Interval interval);
  Picoseconds total() const { return total_; }

 private:
  std::span<const Interval> windows_;
  std::size_t window_ = 0;
  Picoseconds covered_until_ = INT64_MIN;
  Picoseconds total_ = 0;
};

}  // namespace doctor
