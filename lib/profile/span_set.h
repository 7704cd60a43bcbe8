#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"

namespace doctor {

/// A union of intervals that come in any order, in memory that grows with those of the union. Above the capacity the
/// shortest gaps between them are closed, from a microsecond upwards as needed. So no interval is lost, and what the
/// union gains are gaps too short to matter in a trace of so many intervals.
class SpanSet {
 public:
  static constexpr std::size_t kCapacity = std::size_t{1} << 17;

  explicit SpanSet(std::size_t capacity = kCapacity) : capacity_(capacity) {}

  void add(Interval span);

  /// The union, disjoint and sorted; at most `capacity` intervals. The set is empty afterwards.
  std::vector<Interval> take();

 private:
  void shrink();

  std::size_t capacity_;
  Picoseconds closed_gap_ = 0;    ///< gaps up to this length are closed
  std::size_t next_shrink_ = 64;  ///< so many intervals are united
  std::vector<Interval> spans_;
};

}  // namespace doctor
