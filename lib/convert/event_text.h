#pragma once

#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <cstring>

#include "base/time.h"
#include "trace/event_reader.h"

namespace doctor {

// The spelling of events in every output format. All functions append to `out`.

/// An integer in decimal.
void append_integer(std::string& out, std::integral auto value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}

// Writes an integer to a place with enough room; returns the end of the text.

inline constexpr std::size_t kLongestInteger = 20;  ///< "-9223372036854775808"
inline constexpr std::size_t kLongestTime = 1 + 2 * kLongestInteger;

inline char* put(char* to, std::string_view text) {
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

inline char* put_integer(char* to, std::integral auto value) {
  return std::to_chars(to, to + kLongestInteger, value).ptr;
}

char* put_microseconds(char* to, Picoseconds time);

/// Microseconds, exact to the picosecond: "-12.000345", "7".
void append_microseconds(std::string& out, Picoseconds time);

/// The value of an argument as text: integers in decimal, reals with as many digits as are needed to read the same
/// value back.
void append_value(std::string& out, const EventArgument& argument);

/// The arguments as a JSON object of strings, as TensorFlow writes `args`. A `long_name` that is not empty is the first
/// member. A repeated name gets a number ("flow_2"), since readers keep one member of a name.
void append_arguments(std::string& out, std::string_view long_name, std::span<const EventArgument> arguments);

/// The text of append_arguments() without a long name, as one field of a CSV file (append_csv_field()).
void append_csv_arguments(std::string& out, std::span<const EventArgument> arguments);

}  // namespace doctor
