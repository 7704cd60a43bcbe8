#include "text/numbers.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace doctor {
namespace {

struct Unit {
  std::string_view name;
  double picoseconds;
};

constexpr std::array<Unit, 3> kUnits = {{{"us", 1e6}, {"ms", 1e9}, {"s", 1e12}}};

/// Enough digits to compare, none that only measure noise.
std::string digits_of(double value, bool is_finest_unit) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (is_finest_unit) return fmt::format("{:.{}f}", value, size >= 10 ? 0 : size >= 1 ? 1 : 2);
  return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

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

std::string format_time(Picoseconds time) {
  return format_microseconds(to_microseconds(time));
}

std::string format_microseconds(double microseconds) {
  if (!std::isfinite(microseconds)) return fmt::format("{} us", microseconds);
  for (std::size_t index = 0; index < kUnits.size(); ++index) {
    const double value = microseconds * kUnits.front().picoseconds / kUnits[index].picoseconds;
    const bool fits = std::abs(value) < 999.5;  // more would be printed as 1000
    if (fits || index + 1 == kUnits.size())
      return fmt::format("{} {}", digits_of(value, index == 0), kUnits[index].name);
  }
  return {};
}

std::string format_share(double share) {
  const double percent = share * 100;
  const double tenths = std::round(percent * 10) / 10;
  if (tenths > 0 && tenths < 10) return fmt::format("{:.1f}%", tenths);
  // Nearly all is not all.
  return percent >= 99.5 && percent < 100 ? "over 99%" : fmt::format("{:.0f}%", percent);
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kByteUnits = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 999.7 kB would be printed as 1000 kB.
  for (; unit + 1 < kByteUnits.size() && value >= (unit == 0 ? 1000 : 999.5); ++unit) value /= 1000;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{} {}", digits_of(value, false), kByteUnits[unit]);
}

std::string format_count(std::uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (std::size_t from_end = 3; from_end < digits.size(); from_end += 4) digits.insert(digits.size() - from_end, ",");
  return digits;
}

std::string format_count(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", format_count(count), one, count == 1 ? "" : "s");
}

std::string ordinal(std::uint64_t number) {
  const std::uint64_t tens = number % 100;
  const bool is_teen = tens >= 11 && tens <= 13;
  const std::uint64_t ending = is_teen || number % 10 > 3 ? 0 : number % 10;
  return fmt::format("{}{}", number, std::string_view("thstndrd").substr(2 * ending, 2));
}

std::string format_number(double value) {
  constexpr double kFiveDigits = 9999.5;
  constexpr double kMostDigits = 1e15;  // beyond it the last ones mean nothing
  const double size = std::abs(value);
  if (!(size >= kFiveDigits && size < kMostDigits)) return fmt::format("{:.4g}", value);
  return (value < 0 ? "-" : "") + format_count(static_cast<std::uint64_t>(std::round(size)));
}

std::string format_quantity(double value, std::string_view unit) {
  if (unit == "us") return format_microseconds(value);
  if (unit == "ms") return format_microseconds(value * 1e3);
  if (unit == "share") return format_share(value);
  const bool is_whole = std::isfinite(value) && std::abs(value) < 1e15 && value == std::round(value);
  std::string number = fmt::format("{:.4g}", value);
  if (is_whole) number = (value < 0 ? "-" : "") + format_count(static_cast<std::uint64_t>(std::abs(value)));
  return unit.empty() ? number : fmt::format("{} {}", number, unit);
}

std::string format_hours(double hours) {
  constexpr double kPicosecondsPerHour = 3.6e15;
  return std::abs(hours) < 1 ? format_time(static_cast<Picoseconds>(hours * kPicosecondsPerHour))
                             : format_number(hours) + " h";
}

std::string growth_words(const GrowthNumbers& numbers) {
  std::string words =
      fmt::format("{} a step from step {} to {}", format_bytes(static_cast<std::uint64_t>(numbers.bytes_per_step)),
                  format_count(numbers.first_step), format_count(numbers.last_step));
  if (!numbers.steps_left) return words;
  const auto left = static_cast<std::uint64_t>(*numbers.steps_left);
  return words + fmt::format(", and the {} left are used up in {} more, in step {}",
                             format_bytes(numbers.available_bytes), format_count(left),
                             format_count(numbers.last_step + left));
}

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
