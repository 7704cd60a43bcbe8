#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace doctor {

// Numbers as a person reads them, the same way on every page.

/// "94 us", "2.57 ms", "74.3 ms", "142 ms", "1.20 s": the unit that keeps the number between 1 and 1000.
std::string format_time(Picoseconds time);
/// The same of microseconds.
std::string format_microseconds(double microseconds);

/// "0.4%", "47%", "99%", "over 99%" of a share between 0 and 1: with a tenth below ten percent.
std::string format_share(double share);

/// "512 B", "4.86 kB", "65.5 MB", "15.6 GB": powers of 1000, as TensorFlow counts megabytes.
std::string format_bytes(std::uint64_t bytes);

/// "12,345".
std::string format_count(std::uint64_t count);

/// "8 calls", "1 call": `one` is the singular, its plural ends in s.
std::string format_count(std::uint64_t count, std::string_view one);

/// "1st", "2nd", "11th", "22nd".
std::string ordinal(std::uint64_t number);

/// A number with its unit as Evidence and Threshold carry them ("us", "ms", "share", "calls", "").
/// Four digits, of large numbers all those before the point: "0.0123", "12.35", "1,234,568".
std::string format_number(double value);
std::string format_quantity(double value, std::string_view unit);

/// How the memory of a process grows with its steps.
struct GrowthNumbers {
  std::uint64_t first_step = 0;
  std::uint64_t last_step = 0;
  double bytes_per_step = 0;
  std::uint64_t available_bytes = 0;  ///< that the machine has left after the last step
  std::optional<double> steps_left;   ///< until these are used up
};

/// "1.11 MB a step from step 3 to 160, and the 20.7 GB left are used up in 18,667 more, in step 18,827".
std::string growth_words(const GrowthNumbers& numbers);

/// "3.2 h", "1,234 h"; what is less than an hour in the unit that fits: "35.2 s".
std::string format_hours(double hours);

/// "2026-12-31".
std::string to_date(std::chrono::year_month_day date);

/// Nanoseconds since 1970 as RFC 3339 has them, in UTC and cut to microseconds: "2026-11-22T08:28:02.000000Z".
std::string to_timestamp(std::int64_t nanoseconds);

/// The reverse; fractions of a second may have any number of digits, or be missing. nullopt for any other text, other
/// time zones and times that do not fit (before 1678, after 2261).
std::optional<std::int64_t> parse_timestamp(std::string_view text);

}  // namespace doctor
