#pragma once

#include "base/time.h"

namespace doctor {

/// A start and a duration in 12 bytes. A trace has millions of events with one each, so their size decides how much
/// memory a diagnosis takes.
///
/// The start is exact for -10 h .. +10 h around the trace's origin (56 bits of picoseconds). The duration is exact to
/// the picosecond below 0.27 s, to the nanosecond below 274 s (the resolution of host traces), to the microsecond
/// above.
class PackedSpan {
 public:
  static constexpr Picoseconds kMaxStart = (Picoseconds{1} << 55) - 1;
  static constexpr Picoseconds kMinStart = -kMaxStart;
  static constexpr Picoseconds kMaxDuration = ((Picoseconds{1} << 38) - 1) * kPicosecondsPerMicrosecond;

  PackedSpan() = default;

  /// `start` must be within [kMinStart, kMaxStart] and `duration` within [0, kMaxDuration].
  PackedSpan(Picoseconds start, Picoseconds duration) {
    constexpr std::uint64_t kCountLimit = std::uint64_t{1} << 38;
    auto count = static_cast<std::uint64_t>(duration);
    std::uint64_t unit = 0;
    while (count >= kCountLimit) {
      count /= 1000;
      ++unit;
    }
    const std::uint64_t length = count << 2 | unit;  // 40 bits
    const auto start_bits = static_cast<std::uint64_t>(start);
    words_[0] = static_cast<std::uint32_t>(start_bits);
    words_[1] = static_cast<std::uint32_t>((start_bits >> 32 & 0xff'ffffu) | length << 24);
    words_[2] = static_cast<std::uint32_t>(length >> 8);
  }

  Picoseconds start() const {
    const std::uint64_t bits = static_cast<std::uint64_t>(words_[1]) << 32 | words_[0];
    return static_cast<Picoseconds>(bits << 8) >> 8;  // sign-extends the 56 bits
  }

  Picoseconds duration() const {
    constexpr Picoseconds kUnits[] = {1, kPicosecondsPerNanosecond, kPicosecondsPerMicrosecond, 0};
    const std::uint64_t length = static_cast<std::uint64_t>(words_[2]) << 8 | words_[1] >> 24;
    return static_cast<Picoseconds>(length >> 2) * kUnits[length & 3];
  }

  Picoseconds end() const { return start() + duration(); }

 private:
  std::uint32_t words_[3] = {0, 0, 0};
};

/// An opaque 64-bit id without alignment, which would cost padding in a row.
class PackedToken {
 public:
  PackedToken() = default;
  explicit PackedToken(std::uint64_t value)
      : words_{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)} {}

  std::uint64_t value() const { return static_cast<std::uint64_t>(words_[1]) << 32 | words_[0]; }

 private:
  std::uint32_t words_[2] = {0, 0};
};

}  // namespace doctor
