#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace doctor {

/// "2026-12-31".
std::string to_date(std::chrono::year_month_day date);

/// Nanoseconds since 1970 as RFC 3339 has them, in UTC and cut to microseconds: "2026-11-22T08:28:02.000000Z".
std::string to_timestamp(std::int64_t nanoseconds);

/// The reverse; fractions of a second may have any number of digits, or be missing. nullopt for any other text, other
/// time zones and times that do not fit (before 1678, after 2261).
std::optional<std::int64_t> parse_timestamp(std::string_view text);

}  // namespace doctor
