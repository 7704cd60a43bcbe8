#pragma once

#include <cstdint>

namespace doctor {

/// A time or a duration in integer picoseconds, the unit of XSpace. 2^63 ps are 106 days.
using Picoseconds = std::int64_t;

inline constexpr Picoseconds kPicosecondsPerNanosecond = 1'000;
inline constexpr Picoseconds kPicosecondsPerMicrosecond = 1'000'000;
inline constexpr Picoseconds kPicosecondsPerMillisecond = 1'000'000'000;
inline constexpr Picoseconds kPicosecondsPerSecond = 1'000'000'000'000;

inline constexpr double to_microseconds(Picoseconds time) {
  return static_cast<double>(time) / static_cast<double>(kPicosecondsPerMicrosecond);
}

/// `part` as a share of `whole`; 0 where that has no length.
inline constexpr double share_of_time(Picoseconds part, Picoseconds whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// A half-open piece of time, [start, end).
struct Interval {
  Picoseconds start = 0;
  Picoseconds end = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

}  // namespace doctor
