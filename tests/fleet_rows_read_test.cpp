// Which lines of a fleet count: repeated, foreign, damaged and extreme ones.

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "fleet/fleet_pages.h"
#include "fleet/trace_row.h"
#include "fleet_rows.h"
#include "io/line_reader.h"
#include "temporary_directory.h"

namespace doctor::fleet_test {
namespace {

TEST_CASE("of rows with the same content one counts, and rather one without an error") {
  TraceRow copy = row_number(1);
  copy.file.path = "elsewhere/copy.pb";
  TraceRow unread = failed_row({"missing.pb", 0, ""}, "no such file");
  TraceRow other = failed_row({"other.pb", 0, ""}, "no such file");
  std::vector<TraceRow> rows = {row_number(1), copy, unread, unread, other};
  for (int number = 10; number < 30; ++number) {
    rows.push_back(row_number(number));
    rows.push_back(failed_row(rows.back().file, "took longer than 60 s"));
  }
  const Fleet fleet = fleet_of(rows);
  CHECK(fleet.rows == 23);
  CHECK(fleet.repeated == 22);
  CHECK(fleet.verdicts.at("input_bound") == 21);
  REQUIRE(fleet.errors.size() == 1);
  CHECK(fleet.errors[0].traces == 2);
}

TEST_CASE("errors are counted by kind, whatever numbers they hold") {
  const Fleet fleet =
      fleet_of({failed_row({"a", 1, "a1"}, "ends early at byte 17"), failed_row({"b", 1, "b1"}, "ends early at byte 4"),
                failed_row({"c", 1, "c1"}, "is empty")});
  REQUIRE(fleet.errors.size() == 2);
  CHECK(fleet.errors[0].reason == "ends early at byte N");
  CHECK(fleet.errors[0].traces == 2);
  CHECK(fleet.errors[0].example == "a");
  CHECK(!fleet.has_verdict());
}

TEST_CASE("lines that are no rows are counted, and the first is told") {
  const std::string text =
      "\n" + render_row(row_number(1)) + "not json\n{}\n \r\n" + render_row(row_number(2)).substr(0, 40);
  const Fleet fleet = fleet_of(text);
  CHECK(fleet.rows == 1);
  CHECK(fleet.not_rows == 3);
  CHECK(fleet.first_not_row.find("rows.ndjson line 3: is not a row: invalid JSON") != std::string::npos);
  CHECK(render_fleet_text(fleet, {}, {}).find("3 lines are not rows") != std::string::npos);
}

TEST_CASE("numbers beyond all reason drown nothing") {
  std::vector<TraceRow> rows = {row_number(1), row_number(2), row_number(3)};
  rows[0].input_lost_us = 1e300;
  rows[1].input_lost_us = -5;
  rows[2].get_next_p50_us = 1e300;
  rows[2].recorded_ns = kStart;
  rows[0].window_us = 1e300;
  rows[0].best_gain = 1e300;
  rows[1].best_gain = rows[1].best_gain_low = -1e300;
  const Fleet fleet = fleet_of(rows);
  CHECK(fleet.saved.ns == 32'000'000'000'000'000);
  CHECK(fleet.saved.low_ns == 0);
  CHECK(fleet.lost_ns == 32'000'000'000'000'000 + 0 + 3'600'000'000'000);  // about a year, nothing, an hour
  CHECK(!render_fleet_text(fleet, {}, {}).empty());
}

TEST_CASE("foreign text is escaped on every page") {
  TraceRow row = row_number(1);
  row.file.path = "a|b\x1b[31m\n<b>/=x.pb";
  row.culprit_dataset = "Map|<script>\x1b";
  row.findings = {{"rule|\x1b<b>", "error", ""}};
  const Fleet fleet = fleet_of({row, failed_row({"=cmd|\x1b", 1, "e"}, "bad\x1b|<b>")});
  for (const std::string& page : {render_fleet_text(fleet, {}, {}), render_fleet_markdown(fleet, {}),
                                  render_fleet_csv(fleet, {}), to_text(fleet_json(fleet, {}))}) {
    CHECK(page.find('\x1b') == std::string::npos);
  }
  const std::string markdown = render_fleet_markdown(fleet, {});
  CHECK(markdown.find("<script>") == std::string::npos);
  CHECK(markdown.find("<b>") == std::string::npos);
}

TEST_CASE("lines are read whole, long ones cut off and told") {
  const std::string text = "first\n\n" + std::string(700'000, 'x') + "\nlast";
  const std::unique_ptr<ByteSource> source = memory_source(text, "text");
  LineReader reader(*source, 100);
  struct Case {
    std::string text;
    bool is_too_long;
  };
  std::uint64_t number = 0;
  for (const Case& one :
       std::vector<Case>{{"first", false}, {"", false}, {std::string(100, 'x'), true}, {"last", false}}) {
    const Result<std::optional<Line>> line = reader.next();
    REQUIRE(line);
    REQUIRE(line->has_value());
    CHECK((*line)->text == one.text);
    CHECK((*line)->is_too_long == one.is_too_long);
    CHECK((*line)->number == ++number);
  }
  const Result<std::optional<Line>> end = reader.next();
  REQUIRE(end);
  CHECK(!end->has_value());
}

}  // namespace
}  // namespace doctor::fleet_test
