#include "text/escape.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "text/columns.h"

namespace doctor::escape_test {
namespace {}  // namespace

TEST_CASE("foreign text cannot steer a terminal") {
  CHECK(escape_for_terminal("Iterator::Root") == "Iterator::Root");
  CHECK(escape_for_terminal("gr\xC3\xB6\xC3\x9F"
                            "e") ==
        "gr\xC3\xB6\xC3\x9F"
        "e");
  CHECK(escape_for_terminal("\x1b[31mred") == "\\x1b[31mred");
  CHECK(escape_for_terminal("a\r\nb\tc") == "a\\x0d\\x0ab\\x09c");
  CHECK(escape_for_terminal(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(escape_for_terminal("\xC2\x9B"
                            "31m") == "\\x9b31m");  // CSI as one character
  CHECK(escape_for_terminal("a\xE2\x80\xAE"
                            "b") == "a\\u202eb");  // right-to-left override
  CHECK(escape_for_terminal("a\xE2\x80\xA8"
                            "b") == "a\\u2028b");  // line separator
  CHECK(escape_for_terminal("\x7f") == "\\x7f");
}

TEST_CASE("what shows nothing or turns text around is shown as its code") {
  CHECK(escape_for_terminal("a\xD8\x9Cz") == "a\\u061cz");                               // Arabic letter mark
  CHECK(escape_for_terminal("a\xC2\xADz") == "a\\u00adz");                               // soft hyphen
  CHECK(escape_for_terminal("a\xE1\xA0\x8Ez") == "a\\u180ez");                           // Mongolian vowel separator
  CHECK(escape_for_terminal("a\xE2\x80\x8Bz") == "a\\u200bz");                           // zero width space
  CHECK(escape_for_terminal("a\xE2\x81\xA0z") == "a\\u2060z");                           // word joiner
  CHECK(escape_for_terminal("a\xE3\x85\xA4z") == "a\\u3164z");                           // Hangul filler
  CHECK(escape_for_terminal("\xF3\xA0\x81\xA1") == "\\U000e0061");                       // tag
  CHECK(escape_for_terminal("\xF0\x9B\xB2\xA0") == "\\U0001bca0");                       // overlap of shorthand
  CHECK(escape_for_terminal("\xF0\x9D\x85\xB3") == "\\U0001d173");                       // beam of music
  CHECK(escape_for_terminal("\xE2\x98\x81\xEF\xB8\x8F") == "\xE2\x98\x81\xEF\xB8\x8F");  // a sign and its variant
}

TEST_CASE("bytes that are not UTF-8 are replaced") {
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(escape_for_terminal("a\xFFz") == "a" + bad + "z");
  CHECK(escape_for_terminal("\xC0\xAF") == bad + bad);            // overlong slash
  CHECK(escape_for_terminal("\xE0\x80\xAF") == bad + bad + bad);  // the same in three bytes
  CHECK(escape_for_terminal("\xED\xA0\x80") == bad + bad + bad);  // surrogate
  CHECK(escape_for_terminal("\xF4\x90\x80\x80") == bad + bad + bad + bad);
  CHECK(escape_for_terminal("a\xE2\x82") == "a" + bad + bad);  // cut off
  CHECK(escape_for_terminal("\xF0\x9F\x98\x80") == "\xF0\x9F\x98\x80");
}

TEST_CASE("a terminal of ASCII alone gets as many columns") {
  CHECK(in_ascii("plain") == "plain");
  CHECK(in_ascii("a\u2588\u2591 \u2581b") == "a#- _b");
  CHECK(in_ascii("na\u00efve \u65e5") == "na?ve ??");
  CHECK(in_ascii("\xff\xfe.") == "??.");
}

TEST_CASE("a CSV field is quoted where it must be, and no formula") {
  CHECK(csv_field("Iterator::Root") == "Iterator::Root");
  CHECK(csv_field("").empty());
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"a\"") == "\"say \"\"a\"\"\"");
  CHECK(csv_field("a\nb") == "a\\x0ab");
  CHECK(csv_field("a=b") == "a=b");
  for (const char start : {'=', '+', '-', '@'})
    CHECK(csv_field(std::string(1, start) + "1") == "'" + std::string(1, start) + "1");
  CHECK(csv_field("=a,b") == "\"'=a,b\"");
  CHECK(csv_field("\t=1") == "'\\x09=1");
  CHECK(csv_field("\r=1") == "'\\x0d=1");
  CHECK(csv_field("\x1b[2J\xff") == "\\x1b[2J\xEF\xBF\xBD");
}

TEST_CASE("a CSV field is the same whether it is appended or returned") {
  // Fields of up to six bytes of every kind that the quick way distinguishes.
  constexpr std::string_view kBytes = "a \",=+-@\t\r\x7f\xc3\xa9";
  std::uint32_t state = 1;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint32_t rest = state; rest % 7 != 0; rest /= 7) text += kBytes[rest % kBytes.size()];
    state = state * 1'664'525 + 1'013'904'223;
    std::string appended = "before,";
    append_csv_field(appended, text);
    REQUIRE(appended == "before," + csv_field(text));
  }
}

}  // namespace doctor::escape_test
