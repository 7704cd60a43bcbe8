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

}  // namespace

std::string format_time(Picoseconds time) {
  return format_microseconds(to_microseconds(time));
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

}  // namespace doctor
