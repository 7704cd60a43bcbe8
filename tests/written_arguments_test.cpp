// Numbers, texts and arguments of events as conversions write them.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collected_events.h"
#include "convert/convert.h"
#include "convert/event_text.h"
#include "converted_trace.h"
#include "pipeline.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"
#include "text/escape.h"
#include "text/json_page.h"
#include "tree/iterator_forest.h"

namespace doctor::convert_test {
namespace {

TEST_CASE("microseconds are exact to the picosecond") {
  struct Row {
    Picoseconds time;
    const char* text;
  };
  const std::vector<Row> rows = {
      {0, "0"},
      {1, "0.000001"},
      {1'500'000, "1.5"},
      {12'000'345, "12.000345"},
      {-1, "-0.000001"},
      {-2'000'000, "-2"},
      {INT64_MAX, "9223372036854.775807"},
      {INT64_MIN, "-9223372036854.775808"},
  };
  for (const Row& row : rows) {
    std::string text;
    append_microseconds(text, row.time);
    CHECK(text == row.text);
  }
}

TEST_CASE("foreign text becomes valid JSON and UTF-8") {
  struct Row {
    std::string text;
    const char* json;
  };
  const std::vector<Row> rows = {
      {"plain", R"("plain")"},
      {"", R"("")"},
      {"a\"b\\c", R"("a\"b\\c")"},
      {"\n\x01\x7f", "\"\\u000a\\u0001\x7f\""},
      {"a\u2028b\u2029c\u0085d\u2027", "\"a\\u2028b\\u2029c\\u0085d\u2027\""},
      {"\xC3\xA9", "\"\xC3\xA9\""},
      {"a\xff\xc3", "\"a\xEF\xBF\xBD\xEF\xBF\xBD\""},
      {std::string("a\0b", 3), R"("a\u0000b")"},
  };
  for (const Row& row : rows) {
    std::string text;
    append_json_string(text, row.text);
    CHECK(text == row.json);
    CHECK(Json::accept(text));
  }
}

TEST_CASE("plain arguments are written at once, and read as the others do") {
  const auto text_of = [](std::string_view text) {
    EventArgument argument;
    argument.name = "name";
    argument.text = text;
    return argument;
  };
  EventArgument least;
  least.name = "least";
  least.type = ArgumentType::integer;
  least.integer = INT64_MIN;
  EventArgument most;
  most.name = "most";
  most.type = ArgumentType::unsigned_integer;
  most.unsigned_integer = UINT64_MAX;
  EventArgument real = least;
  real.name = "real";
  real.type = ArgumentType::real;
  real.real = 1e300;
  EventArgument quoted = least;
  quoted.name = "a \"b\"";
  std::vector<EventArgument> many;
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                          "j", "k", "l", "m", "n", "o", "p", "q", "r"};
  for (const std::string& name : names) many.emplace_back(most).name = name;
  const std::vector<std::vector<EventArgument>> rows = {
      {least},
      {least, most, text_of("=1, 2")},
      {text_of("")},
      {text_of("say \"a\""), most},
      {text_of("back\\slash"), most},
      {text_of("\x7f\n")},
      {text_of("\xC3\xA9\xff")},
      {quoted},
      {most, most, least},
      {most, real},
      many,
  };
  for (const std::vector<EventArgument>& row : rows) {
    std::string text = "before";
    append_arguments(text, {}, row);
    std::string by_parts;  // a long name is not in arguments that are written at once
    append_arguments(by_parts, "x", row);
    const std::string begin = R"({"long_name":"x",)";
    REQUIRE(by_parts.starts_with(begin));
    CHECK(text == "before{" + by_parts.substr(begin.size()));
    CHECK(Json::accept(text.substr(6)));
    std::string field = "before";
    append_csv_arguments(field, row);
    CHECK(field == "before" + csv_field(text.substr(6)));
  }
  std::string none;
  append_csv_arguments(none, {});
  CHECK(none == csv_field("{}"));
}

TEST_CASE("arguments are an object of strings in which no name comes twice") {
  std::vector<EventArgument> arguments(4);
  arguments[0].name = arguments[1].name = "a";
  arguments[1].type = ArgumentType::integer;
  arguments[1].integer = -5;
  arguments[2].name = "long_name";
  arguments[2].type = ArgumentType::real;
  arguments[2].real = 0.1;
  arguments[3].name = "a_2";
  arguments[3].type = ArgumentType::unsigned_integer;
  arguments[3].unsigned_integer = UINT64_MAX;
  std::string text;
  append_arguments(text, "long", arguments);
  CHECK(text == R"({"long_name":"long","a":"","a_2":"-5","long_name_2":"0.1","a_2_2":"18446744073709551615"})");
  text.clear();
  append_arguments(text, {}, {});
  CHECK(text == "{}");

  std::vector<EventArgument> many(1'000);
  for (EventArgument& argument : many) argument.name = "same";
  text.clear();
  append_arguments(text, {}, many);
  CHECK(Json::parse(text).size() == many.size());
}

}  // namespace
}  // namespace doctor::convert_test
