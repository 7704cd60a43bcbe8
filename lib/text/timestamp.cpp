#include "text/timestamp.h"

#include <fmt/format.h>

#include <chrono>

namespace doctor {
namespace {

using std::chrono::floor;

constexpr std::int64_t kPerSecond = 1'000'000'000;
constexpr std::int64_t kPerMicrosecond = 1'000;

/// The form without its fraction: '0' is any digit.
constexpr std::string_view kForm = "0000-00-00T00:00:00";

bool is_decimal_digit(char c) {
  return c >= '0' && c <= '9';
}

bool has_form(std::string_view text) {
  if (text.size() != kForm.size()) return false;
  for (std::size_t index = 0; index < text.size(); ++index) {
    if (kForm[index] == '0' ? !is_decimal_digit(text[index]) : text[index] != kForm[index]) return false;
  }
  return true;
}

int number_at(std::string_view text, std::size_t begin, std::size_t length) {
  int number = 0;
  for (const char digit : text.substr(begin, length)) number = number * 10 + (digit - '0');
  return number;
}

/// ".25" is 250,000,000 nanoseconds; digits after the ninth are cut off.
std::optional<std::int64_t> parse_fraction(std::string_view text) {
  if (text.empty()) return 0;
  if (text.size() == 1 || text.front() != '.') return std::nullopt;
  text.remove_prefix(1);
  std::int64_t nanoseconds = 0;
  std::int64_t unit = kPerSecond / 10;
  for (const char digit : text) {
    if (!is_decimal_digit(digit)) return std::nullopt;
    nanoseconds += (digit - '0') * unit;
    unit /= 10;
  }
  return nanoseconds;
}

}  // namespace

std::string to_date(std::chrono::year_month_day date) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::string to_timestamp(std::int64_t nanoseconds) {
  const std::chrono::sys_time<std::chrono::nanoseconds> time{std::chrono::nanoseconds(nanoseconds)};
  const auto day = floor<std::chrono::days>(time);
  const std::int64_t of_day = (time - day).count() / kPerMicrosecond;
  const std::int64_t seconds = of_day / 1'000'000;
  return fmt::format("{}T{:02}:{:02}:{:02}.{:06}Z", to_date(day), seconds / 3600, seconds / 60 % 60, seconds % 60,
                     of_day % 1'000'000);
}

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  if (!text.ends_with('Z')) return std::nullopt;
  text.remove_suffix(1);
  if (!has_form(text.substr(0, kForm.size()))) return std::nullopt;
  const std::optional<std::int64_t> fraction = parse_fraction(text.substr(kForm.size()));
  const std::chrono::year_month_day date{std::chrono::year(number_at(text, 0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number_at(text, 5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number_at(text, 8, 2)))};
  const int hour = number_at(text, 11, 2);
  const int minute = number_at(text, 14, 2);
  const int second = number_at(text, 17, 2);
  if (!fraction || !date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
  std::int64_t nanoseconds = 0;
  if (__builtin_mul_overflow(seconds, kPerSecond, &nanoseconds)) return std::nullopt;
  if (__builtin_add_overflow(nanoseconds, *fraction, &nanoseconds)) return std::nullopt;
  return nanoseconds;
}

}  // namespace doctor
