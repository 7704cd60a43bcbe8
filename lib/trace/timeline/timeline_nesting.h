#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace doctor {

/// A span of a TF1 timeline: a call of an iterator, or a GetNext op (no long name).
struct TimelineSpan {
  Picoseconds start = 0;
  Picoseconds duration = 0;
  std::string_view long_name;

  Picoseconds end() const { return start + duration; }
};

/// The index that means "no span".
inline constexpr std::uint32_t kNoSpan = 0xffff'ffffu;

/// The nesting of calls, by index into the arguments of nest_timeline().
struct TimelineNesting {
  std::vector<std::uint32_t> order;     ///< all calls, outer before inner, else by start
  std::vector<std::uint32_t> parent;    ///< per call: the iterator call around it, or kNoSpan
  std::vector<std::uint32_t> get_next;  ///< per call: the GetNext op around it, or kNoSpan
};

/// Nests the spans of a timeline, whose lanes are rows of the drawing and not threads. The parent of an iterator call
/// is the call that contains it in time and has the longest long name that is a proper prefix of its own. An element
/// index at the end of the prefix does not count: "FlatMap[3]::…" is made by "FlatMap". O(n log n).
TimelineNesting nest_timeline(std::span<const TimelineSpan> calls, std::span<const TimelineSpan> get_nexts);

}  // namespace doctor
