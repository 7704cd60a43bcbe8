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

/// A half-open piece of time, [start, end).
struct Interval {
  Picoseconds start = 0;
  Picoseconds end = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

}  // namespace doctor
