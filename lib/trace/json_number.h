#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace doctor {

/// A time as Chrome traces write it, in decimal microseconds. It has two parts because some writers count from 1970:
/// 1.8e15 us fit 64 bits, but the same time in picoseconds does not.
struct MicrosecondTime {
  std::int64_t microseconds = 0;
  std::int32_t picoseconds = 0;  ///< the fraction, -999,999 .. 999,999, with the sign of the whole

  friend bool operator==(const MicrosecondTime&, const MicrosecondTime&) = default;
};

enum class NumberText : std::uint8_t { missing, valid, malformed, out_of_range };

/// Reads the text of a JSON number, or of a string that holds one (without its quotes), as microseconds. The fraction
/// is rounded to picoseconds from the text itself: profilers print %.17g, and 54.591999999999999 means 54.592 us. 2^63
/// us and more are out_of_range; NaN and Infinity are malformed.
NumberText parse_microseconds(std::string_view text, MicrosecondTime& time);

/// The same for a text that is followed by eight readable bytes, the first of which is not a digit: a value within a
/// document.
NumberText parse_separated_microseconds(std::string_view text, MicrosecondTime& time);

/// `time` in picoseconds after `origin_microseconds`; nullopt if that does not fit 64 bits.
std::optional<Picoseconds> to_picoseconds(const MicrosecondTime& time, std::int64_t origin_microseconds);

/// Brings the times of one document into the range of 64-bit picoseconds. Clocks that start near the document stay as
/// they are. Clocks with other origins (1970, the machine's start) count from the first time that is asked for.
class TimeOrigin {
 public:
  /// Picoseconds since the origin; nullopt if they do not fit 64 bits.
  std::optional<Picoseconds> since(const MicrosecondTime& time);

  /// The origin in nanoseconds on the document's clock; 0 if it is the clock's own or no time was asked for.
  std::int64_t nanoseconds() const;

 private:
  std::optional<std::int64_t> microseconds_;
};

/// A 64-bit id in decimal. TF writes the same kind of id signed or unsigned, so -1 and 2^64 - 1 are one token.
std::optional<std::uint64_t> parse_token(std::string_view text);

/// A decimal integer that fits 64 bits with a sign; nullopt for anything else, including fractions.
std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace doctor
