#include "trace/json_number.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <string>

namespace doctor {
namespace {

constexpr std::size_t kFractionDigits = 6;  // of a microsecond, down to picoseconds
constexpr std::int32_t kOneMicrosecond = 1'000'000;
constexpr auto kMaxMicroseconds = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_exponent(char c) {
  return c == 'e' || c == 'E';
}

NumberText parse_plain(std::string_view digits, bool is_negative, MicrosecondTime& time) {
  constexpr std::size_t kSafeDigits = 18;  // so many never overflow
  std::uint64_t whole = 0;
  std::size_t at = 0;
  for (; at < digits.size() && is_digit(digits[at]); ++at) {
    const auto digit = static_cast<std::uint64_t>(digits[at] - '0');
    if (at >= kSafeDigits && whole > (kMaxMicroseconds - digit) / 10) return NumberText::out_of_range;
    whole = whole * 10 + digit;
  }
  if (at == 0) return NumberText::malformed;

  std::int32_t fraction = 0;
  if (at < digits.size()) {
    if (digits[at] != '.' || at + 1 == digits.size()) return NumberText::malformed;
    const std::string_view places = digits.substr(at + 1);
    if (!std::all_of(places.begin(), places.end(), is_digit)) return NumberText::malformed;
    for (std::size_t place = 0; place < kFractionDigits; ++place) {
      fraction = fraction * 10 + (place < places.size() ? places[place] - '0' : 0);
    }
    if (places.size() > kFractionDigits && places[kFractionDigits] >= '5') ++fraction;
    if (fraction == kOneMicrosecond) {
      if (whole == kMaxMicroseconds) return NumberText::out_of_range;
      ++whole;
      fraction = 0;
    }
  }
  time.microseconds = is_negative ? -static_cast<std::int64_t>(whole) : static_cast<std::int64_t>(whole);
  time.picoseconds = is_negative ? -fraction : fraction;
  return NumberText::valid;
}

/// The exponent form by moving the decimal point in the text.
NumberText parse_with_exponent(std::string_view mantissa, std::string_view exponent_text, bool is_negative,
                               MicrosecondTime& time) {
  constexpr int kFarthestPoint = 400;  // doubles end at 1e308
  if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
  const std::optional<std::int64_t> exponent = parse_integer(exponent_text);
  if (!exponent) return NumberText::malformed;
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string digits(mantissa.substr(0, point));
  if (point < mantissa.size()) digits += mantissa.substr(point + 1);
  if (point == 0 || point + 1 == mantissa.size() || !std::all_of(digits.begin(), digits.end(), is_digit)) {
    return NumberText::malformed;
  }
  if (std::all_of(digits.begin(), digits.end(), [](char c) { return c == '0'; })) digits = "0";
  const std::int64_t bounded = std::clamp<std::int64_t>(*exponent, -kFarthestPoint, kFarthestPoint);
  const std::int64_t moved = static_cast<std::int64_t>(point) + bounded;
  if (moved <= 0) {
    digits.insert(0, static_cast<std::size_t>(1 - moved), '0');
    digits.insert(1, ".");
  } else if (static_cast<std::size_t>(moved) < digits.size()) {
    digits.insert(static_cast<std::size_t>(moved), ".");
  } else {
    digits.append(static_cast<std::size_t>(moved) - digits.size(), '0');
  }
  return parse_plain(digits, is_negative, time);
}

}  // namespace

NumberText parse_microseconds(std::string_view text, MicrosecondTime& time) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const NumberText plain = parse_plain(text, is_negative, time);
  if (plain == NumberText::valid) return plain;
  const auto exponent = std::find_if(text.begin(), text.end(), is_exponent);
  if (exponent == text.end()) return plain;
  const auto mantissa_size = static_cast<std::size_t>(exponent - text.begin());
  return parse_with_exponent(text.substr(0, mantissa_size), text.substr(mantissa_size + 1), is_negative, time);
}

std::optional<Picoseconds> to_picoseconds(const MicrosecondTime& time, std::int64_t origin_microseconds) {
  std::int64_t microseconds = 0;
  Picoseconds picoseconds = 0;
  if (__builtin_sub_overflow(time.microseconds, origin_microseconds, &microseconds) ||
      __builtin_mul_overflow(microseconds, kPicosecondsPerMicrosecond, &picoseconds) ||
      __builtin_add_overflow(picoseconds, static_cast<Picoseconds>(time.picoseconds), &picoseconds)) {
    return std::nullopt;
  }
  return picoseconds;
}

std::optional<Picoseconds> TimeOrigin::since(const MicrosecondTime& time) {
  constexpr std::int64_t kOneHour = 3'600'000'000;  // a profile lasts minutes, and a builder keeps hours exactly
  if (!microseconds_) {
    const bool is_near = time.microseconds > -kOneHour && time.microseconds < kOneHour;
    microseconds_ = is_near ? 0 : time.microseconds;
  }
  return to_picoseconds(time, *microseconds_);
}

std::optional<std::uint64_t> parse_token(std::string_view text) {
  if (text.starts_with('-')) {
    const std::optional<std::int64_t> number = parse_integer(text);
    if (!number) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
  }
  std::uint64_t token = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result parsed = std::from_chars(text.data(), end, token);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return token;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return number;
}

}  // namespace doctor
