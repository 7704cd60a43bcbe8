#include "trace/json_number.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>

namespace doctor::json_number_test {

TEST_CASE("microseconds are read from their decimal text, rounded to picoseconds") {
  struct Case {
    const char* text;
    NumberText status;
    std::int64_t microseconds;
    std::int32_t picoseconds;
  };
  const auto valid = NumberText::valid;
  const Case cases[] = {
      {"0", valid, 0, 0},
      {"46.008", valid, 46, 8'000},
      {"54.591999999999999", valid, 54, 592'000},
      {"83.465000000000003", valid, 83, 465'000},
      {"0.99999999", valid, 1, 0},
      {"9.9999999999999995e-07", valid, 0, 1},
      {"1.5e3", valid, 1'500, 0},
      {"15E+2", valid, 1'500, 0},
      {"123456789e-3", valid, 123'456, 789'000},
      {"0e999999", valid, 0, 0},
      {"1e-999999", valid, 0, 0},
      {"1e-06", valid, 0, 1},
      {"5e-07", valid, 0, 1},
      {"4.9999999e-07", valid, 0, 0},
      {"-2.5e-05", valid, 0, -25},
      {"9.9999996e-01", valid, 1, 0},
      {"9.5e-00", valid, 9, 500'000},
      {"1.23e-05", valid, 0, 12},
      {"1e-99", valid, 0, 0},
      {"1.e-05", NumberText::malformed, 0, 0},
      {".5e-05", NumberText::malformed, 0, 0},
      {"1.2.3e-05", NumberText::malformed, 0, 0},
      {"e-05", NumberText::malformed, 0, 0},
      {"12345678.5", valid, 12'345'678, 500'000},
      {"123456789012345.25", valid, 123'456'789'012'345, 250'000},
      {"1234567890123456.25", valid, 1'234'567'890'123'456, 250'000},
      {"0.123456789012345678901234", valid, 0, 123'457},
      {"0.12345678901234x", NumberText::malformed, 0, 0},
      {"-0.5", valid, 0, -500'000},
      {"-12.25", valid, -12, -250'000},
      {"1795272473592009", valid, 1'795'272'473'592'009, 0},
      {"9223372036854775807", valid, 9'223'372'036'854'775'807, 0},
      {"9223372036854775808", NumberText::out_of_range, 0, 0},
      {"9223372036854775807.9999999", NumberText::out_of_range, 0, 0},
      {"1e19", NumberText::out_of_range, 0, 0},
      {"1e400", NumberText::out_of_range, 0, 0},
      {"NaN", NumberText::malformed, 0, 0},
      {"Infinity", NumberText::malformed, 0, 0},
      {"-Infinity", NumberText::malformed, 0, 0},
      {"", NumberText::malformed, 0, 0},
      {"-", NumberText::malformed, 0, 0},
      {".5", NumberText::malformed, 0, 0},
      {"5.", NumberText::malformed, 0, 0},
      {"5.x", NumberText::malformed, 0, 0},
      {"1e", NumberText::malformed, 0, 0},
      {"1e1.5", NumberText::malformed, 0, 0},
      {".e1", NumberText::malformed, 0, 0},
      {"0x10", NumberText::malformed, 0, 0},
      {"null", NumberText::malformed, 0, 0},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    MicrosecondTime time;
    CHECK(parse_microseconds(c.text, time) == c.status);
    if (c.status == valid) CHECK(time == MicrosecondTime{c.microseconds, c.picoseconds});
    for (const char* const after : {",1234567", "\"1234567", "}       ", " 0000000"}) {
      const std::string document = std::string(c.text) + after;
      MicrosecondTime again;
      CHECK(parse_separated_microseconds(std::string_view(document).substr(0, std::strlen(c.text)), again) == c.status);
      if (c.status == valid) CHECK(again == time);
    }
  }
}

TEST_CASE("times that were printed with 17 digits are read exactly") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20'000; ++round) {
    const auto picoseconds =
        static_cast<std::int64_t>(random() >> (13 + round % 51));  // of every size that doubles hold to the ps
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", static_cast<double>(picoseconds) / 1e6);
    MicrosecondTime time;
    CAPTURE(text);
    REQUIRE(parse_microseconds(text, time) == NumberText::valid);
    REQUIRE(to_picoseconds(time, 0) == picoseconds);
  }
}

TEST_CASE("times of any clock fit after their origin is taken off") {
  TimeOrigin near;
  CHECK(near.since({83, 465'000}) == 83'465'000);
  CHECK(near.since({1'000'000'000'000'000, 0}) == std::nullopt);
  TimeOrigin since_1970;
  CHECK(since_1970.since({1'795'272'473'592'009, 0}) == 0);
  CHECK(since_1970.since({1'795'272'473'592'043, 250'000}) == 34'250'000);
  CHECK(since_1970.since({1'795'272'473'592'008, 0}) == -1'000'000);
}

TEST_CASE("tokens are the same signed or unsigned") {
  CHECK(parse_token("-1") == parse_token("18446744073709551615"));
  CHECK(parse_token("9223372036854775808") == std::uint64_t{1} << 63);
  CHECK(parse_token("18446744073709551616") == std::nullopt);
  CHECK(parse_token("-9223372036854775809") == std::nullopt);
  CHECK(parse_token("") == std::nullopt);
  CHECK(parse_token("12a") == std::nullopt);
  CHECK(parse_integer("-7") == -7);
  CHECK(parse_integer("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK(parse_integer("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  for (const char* const text : {"-9223372036854775809", "9223372036854775808", "--1", "-", "", "+1", " 1", "1 "}) {
    CAPTURE(text);
    CHECK(parse_integer(text) == std::nullopt);
  }
  CHECK(parse_integer("unavailable") == std::nullopt);
  CHECK(parse_integer("1.5") == std::nullopt);
}

TEST_CASE("integers of every length are read as the standard library reads them, with a fault at every place") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2'000; ++round) {
    std::string text = std::to_string(random() >> (random() % 64));
    if (round % 7 == 0) text.insert(0, random() % 4, '0');
    if (round % 3 == 0 && !text.empty()) text[random() % text.size()] = "0123456789/:.-a"[random() % 15];
    if (round % 11 == 0) text += std::to_string(random() % 1'000);
    CAPTURE(text);
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
    if (!text.starts_with('-')) CHECK(parse_token(text) == (is_number ? std::optional(number) : std::nullopt));
  }
}

TEST_CASE("a value within a document is the one that it is by itself") {
  std::mt19937_64 random(6);
  for (int round = 0; round < 4'000; ++round) {
    std::string text = std::to_string(random() >> (random() % 64));
    if (round % 4 != 0) text += "." + std::to_string(random() >> (random() % 64));
    if (round % 5 == 0) text[random() % text.size()] = "0123456789/:.+e"[random() % 15];
    CAPTURE(text);
    const std::string document = text + ",\"name\":\"x\"";
    MicrosecondTime within;
    MicrosecondTime alone;
    const NumberText status = parse_separated_microseconds(std::string_view(document).substr(0, text.size()), within);
    REQUIRE(status == parse_microseconds(text, alone));
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const std::size_t point = std::min(text.find('.'), text.size());
    const std::string digits = text.substr(0, point) + text.substr(std::min(point + 1, text.size()));
    const bool is_plain = point > 0 && point + 1 != text.size() && std::all_of(digits.begin(), digits.end(), is_digit);
    if (text.find('e') == std::string::npos) CHECK((status != NumberText::malformed) == is_plain);
    if (status == NumberText::valid) CHECK(within == alone);
  }
}

}  // namespace doctor::json_number_test
