#include "trace/json_number.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <limits>
#include <string>

#include "base/short_text.h"

namespace doctor {
namespace {

constexpr std::size_t kFractionDigits = 6;  // of a microsecond, down to picoseconds
constexpr std::int32_t kOneMicrosecond = 1'000'000;
constexpr auto kMaxInteger = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

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
    if (at >= kSafeDigits && whole > (kMaxInteger - digit) / 10) return NumberText::out_of_range;
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
      if (whole == kMaxInteger) return NumberText::out_of_range;
      ++whole;
      fraction = 0;
    }
  }
  time.microseconds = is_negative ? -static_cast<std::int64_t>(whole) : static_cast<std::int64_t>(whole);
  time.picoseconds = is_negative ? -fraction : fraction;
  return NumberText::valid;
}

constexpr std::uint64_t kPowers[] = {1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};

struct Digits {
  std::size_t count = 0;  ///< 0 .. 8
  std::uint64_t value = 0;
};

/// What follows a text.
enum class After : std::uint8_t {
  unknown,    ///< perhaps nothing that may be read
  separator,  ///< eight bytes or more, the first of which is not a digit
};

/// The bytes that `text` has from `at` on, eight at most, zero after its end: leading_word() of them.
inline std::uint64_t word_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::size_t left = text.size() - at;
  if (left >= kWord || text.size() < kWord || left == 0) return leading_word({text.data() + at, left});
  return load_word(text.data() + text.size() - kWord) >> (kWord - left) * 8;
}

/// Eight characters less '0' each: 0 .. 9 where there is a digit.
inline std::uint64_t less_zeros(std::uint64_t word) {
  return word ^ 0x3030'3030'3030'3030u;
}

/// The highest bits of those of eight such values that are no digits.
inline std::uint64_t no_digits(std::uint64_t values) {
  return (values | (values + 0x7676'7676'7676'7676u)) & 0x8080'8080'8080'8080u;
}

/// The number of eight digits. Pairs, then fours, then all: each step joins neighbours, the earlier one worth more.
inline std::uint64_t join_digits(std::uint64_t values) {
  values = values * 10 + (values >> 8);
  values = (values & 0x0000'00ff'0000'00ffu) * 0x000f'4240'0000'0064u +
           (values >> 16 & 0x0000'00ff'0000'00ffu) * 0x0000'2710'0000'0001u;
  return values >> 32;
}

/// The digits that `text` has from `at` on, eight at most, all at once: numbers are a third of the bytes of a trace.
template <After kAfter = After::unknown>
inline Digits leading_digits(std::string_view text, std::size_t at) {
  const std::uint64_t word = kAfter == After::separator ? load_word(text.data() + at) : word_at(text, at);
  const std::uint64_t values = less_zeros(word);
  Digits digits;
  digits.count = static_cast<std::size_t>(std::countr_zero(no_digits(values))) / 8;
  if (digits.count == 0) return digits;
  digits.value = join_digits(values << (8 - digits.count) * 8);
  return digits;
}

/// The same as parse_digits() on any machine.
std::optional<std::uint64_t> parse_digits_bytewise(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return number;
}

/// A number of 17 to 20 digits, as ids have: the last sixteen are two whole words.
std::optional<std::uint64_t> parse_long_digits(std::string_view text) {
  const char* const end = text.data() + text.size();
  const std::uint64_t last = less_zeros(load_word(end - 8));
  const std::uint64_t middle = less_zeros(load_word(end - 16));
  const std::uint64_t first = less_zeros(load_word(text.data())) << (8 - (text.size() - 16)) * 8;
  if ((no_digits(first) | no_digits(middle) | no_digits(last)) != 0) return std::nullopt;
  std::uint64_t value = 0;
  const bool overflows = __builtin_mul_overflow(join_digits(first), kPowers[8] * kPowers[8], &value) ||
                         __builtin_add_overflow(value, join_digits(middle) * kPowers[8] + join_digits(last), &value);
  return overflows ? std::nullopt : std::optional(value);
}

/// A number of decimal digits that fits 64 bits; nothing for any other text.
inline std::optional<std::uint64_t> parse_digits(std::string_view text) {
  if constexpr (std::endian::native != std::endian::little) return parse_digits_bytewise(text);
  if (text.empty()) return std::nullopt;
  if (text.size() > 16 && text.size() <= 20) return parse_long_digits(text);
  std::uint64_t value = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Digits digits = leading_digits(text, at);
    const bool overflows = __builtin_mul_overflow(value, kPowers[digits.count], &value) ||
                           __builtin_add_overflow(value, digits.value, &value);
    if (digits.count == 0 || overflows) return std::nullopt;
    at += digits.count;
  }
  return value;
}

/// `fraction` in picoseconds, up to a whole microsecond.
MicrosecondTime to_time(std::uint64_t whole, std::uint64_t fraction, bool is_negative) {
  if (fraction == static_cast<std::uint64_t>(kOneMicrosecond)) {
    ++whole;
    fraction = 0;
  }
  const auto microseconds = static_cast<std::int64_t>(whole);
  const auto picoseconds = static_cast<std::int32_t>(fraction);
  return is_negative ? MicrosecondTime{-microseconds, -picoseconds} : MicrosecondTime{microseconds, picoseconds};
}

/// A number of one digit before the point with an exponent below zero, which is the rest of its text: how %.17g writes
/// less than 100 ps, "9.9999999999999995e-07" for the 1 ps that an instant lasts. `digits` are that digit and the eight
/// after it. False for every other exponent.
bool parse_below_one(std::string_view exponent_text, std::uint64_t digits, bool is_negative, MicrosecondTime& time) {
  const bool is_usual = exponent_text.size() == 4 && exponent_text[0] == 'e' && exponent_text[1] == '-' &&
                        is_digit(exponent_text[2]) && is_digit(exponent_text[3]);
  if (!is_usual) return false;
  const auto digit = [&](std::size_t place) { return static_cast<std::size_t>(exponent_text[place] - '0'); };
  const std::size_t exponent = digit(2) * 10 + digit(3);
  if (exponent == 0) return false;
  // Of the digits those up to the seventh after the point of a microsecond, the last of which rounds.
  const std::uint64_t seven = exponent + 1 < std::size(kPowers) ? digits / kPowers[exponent + 1] : 0;
  time = to_time(0, seven / 10 + (seven % 10 >= 5 ? 1 : 0), is_negative);
  return true;
}

/// The usual case of parse_plain(): up to 15 digits, a point, a fraction; or a small number (parse_below_one()). False
/// for every other text.
template <After kAfter>
inline bool parse_usual(std::string_view text, bool is_negative, MicrosecondTime& time) {
  constexpr std::uint64_t kScale[] = {0, 100'000, 10'000, 1'000, 100, 10, 1};
  if constexpr (std::endian::native != std::endian::little) return false;
  Digits digits = leading_digits<kAfter>(text, 0);
  std::uint64_t whole = digits.value;
  std::size_t at = digits.count;
  if (digits.count == 8) {
    digits = leading_digits<kAfter>(text, at);
    if (digits.count == 8) return false;
    whole = whole * kPowers[digits.count] + digits.value;
    at += digits.count;
  }
  if (at == 0) return false;
  std::uint64_t fraction = 0;
  if (at < text.size()) {
    const bool is_one_digit = at == 1;
    std::uint64_t eight = 0;
    if (text[at] == '.') {
      digits = leading_digits<kAfter>(text, ++at);
      at += digits.count;
      if (digits.count == 0) return false;
      eight = digits.value * kPowers[8 - digits.count];
      if (digits.count <= kFractionDigits) {
        fraction = digits.value * kScale[digits.count];
      } else {
        // The seventh digit rounds; those after it do not count.
        fraction = digits.count == 8 ? (digits.value + 50) / 100 : (digits.value + 5) / 10;
      }
      // What is left does not count, but is to be digits: as a rule less than eight, which are checked with some
      // before.
      if (digits.count == 8 && text.size() - at < 8) {
        if (no_digits(less_zeros(load_word(text.data() + text.size() - 8))) == 0) at = text.size();
      }
      while (digits.count == 8 && at < text.size()) {
        digits = leading_digits<kAfter>(text, at);
        at += digits.count;
      }
    }
    if (at != text.size()) {
      return is_one_digit && parse_below_one(text.substr(at), whole * kPowers[8] + eight, is_negative, time);
    }
  }
  time = to_time(whole, fraction, is_negative);
  return true;
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

/// Any number, with every check.
NumberText parse_unusual(std::string_view text, bool is_negative, MicrosecondTime& time) {
  const NumberText plain = parse_plain(text, is_negative, time);
  if (plain == NumberText::valid) return plain;
  const auto exponent = std::find_if(text.begin(), text.end(), is_exponent);
  if (exponent == text.end()) return plain;
  const auto mantissa_size = static_cast<std::size_t>(exponent - text.begin());
  return parse_with_exponent(text.substr(0, mantissa_size), text.substr(mantissa_size + 1), is_negative, time);
}

template <After kAfter>
inline NumberText parse_time(std::string_view text, MicrosecondTime& time) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  return parse_usual<kAfter>(text, is_negative, time) ? NumberText::valid : parse_unusual(text, is_negative, time);
}

}  // namespace

NumberText parse_microseconds(std::string_view text, MicrosecondTime& time) {
  return parse_time<After::unknown>(text, time);
}

NumberText parse_separated_microseconds(std::string_view text, MicrosecondTime& time) {
  return parse_time<After::separator>(text, time);
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

std::int64_t TimeOrigin::nanoseconds() const {
  std::int64_t nanoseconds = 0;
  const bool overflows = __builtin_mul_overflow(microseconds_.value_or(0), std::int64_t{1000}, &nanoseconds);
  return overflows ? 0 : nanoseconds;
}

std::optional<std::uint64_t> parse_token(std::string_view text) {
  if (!text.starts_with('-')) return parse_digits(text);
  const std::optional<std::int64_t> number = parse_integer(text);
  return number ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const std::optional<std::uint64_t> digits = parse_digits(text);
  if (!digits || *digits > kMaxInteger + (is_negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(is_negative ? 0 - *digits : *digits);
}

}  // namespace doctor
