#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/time.h"

namespace doctor {

/// A part of the window in which the memory in use changed.
struct MemorySpan {
  Picoseconds start = 0;         ///< time of the first change in it
  Picoseconds end = 0;           ///< time of the last change
  std::uint64_t most_bytes = 0;  ///< the maximum in use after any of the changes
  std::uint64_t last_bytes = 0;  ///< in use after the last change, and until the next span

  friend bool operator==(const MemorySpan&, const MemorySpan&) = default;
};

/// The memory in use over time. Changes come in any order, which does not matter. Above kMostSpans spans, pairs of
/// neighbours are joined, so a peak is never lost.
class MemoryTimeline {
 public:
  static constexpr std::size_t kMostSpans = 1024;

  void add(Picoseconds time, std::uint64_t bytes);

  /// The spans in order of time.
  std::vector<MemorySpan> spans() const;

 private:
  void halve();

  Picoseconds width_ = kPicosecondsPerNanosecond;
  std::map<std::int64_t, MemorySpan> spans_;  ///< by time divided by the width, rounded down
};

}  // namespace doctor
