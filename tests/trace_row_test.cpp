// One line of NDJSON for a stored trace: what it says, that it can be read back, and what is no row.

#include "fleet/trace_row.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/catalog.h"
#include "fleet/row_columns.h"
#include "rows_of_traces.h"
#include "temporary_directory.h"
#include "text/numbers.h"

namespace doctor::trace_row_test {
namespace {

TraceRow full_row() {
  TraceRow row;
  row.file = {"logs/a.xplane.pb", 1234, std::string(64, '0')};
  row.format = "xspace";
  row.host = "host-1";
  row.recorded_ns = 1'795'272'060'462'218'000;
  row.events = 99;
  row.is_complete = false;
  row.window_us = 1.5;
  row.verdict = "input_bound";
  row.confidence = 0.75;
  row.input_share = 0.1;
  row.input_lost_us = 12.25;
  row.signature = "0123456789abcdef";
  row.culprit = "Iterator::Root::ParallelMapV2";
  row.culprit_kind = "transformation";
  row.culprit_dataset = "ParallelMapV2";
  row.limiting_resource = "cores";
  row.function_ops = {{"MatMul", 3.5, 0.5}, {"Cast", 1, 0.25}};
  row.get_next_count = 3;
  row.get_next_p50_us = 50;
  row.findings = {{"input-bound", "error", ""}, {"slow-source", "warning", "Iterator::Root"}};
  row.tool_version = "1.2.3";
  row.best_fix = "sequential-map";
  row.best_gain = 1.9;
  row.best_gain_low = 1.5;
  row.best_condition = "fits_in_memory";
  row.culprit_source = "src/input.py:33";
  row.sandbox = "partial";
  for (const RowColumn& column : trace_row_columns()) {
    if (std::holds_alternative<RowFigure>(column.member)) row.figures[place_of(column)] = 60.5;
  }
  return row;
}

/// The columns of a line in order.
std::vector<std::string> names_in(const nlohmann::ordered_json& object) {
  std::vector<std::string> names;
  for (const auto& member : object.items()) names.push_back(member.key());
  return names;
}

std::vector<std::string> names_of(std::span<const RowColumn> columns) {
  std::vector<std::string> names;
  for (const RowColumn& column : columns) names.emplace_back(column.name);
  return names;
}

bool fits(const RowColumn& column, const nlohmann::ordered_json& value) {
  if (value.is_null()) return column.is_nullable();
  switch (column.type()) {
    case RowType::text:
      return value.is_string();
    case RowType::integer:
      return value.is_number_unsigned();
    case RowType::real:
      return value.is_number();
    case RowType::boolean:
      return value.is_boolean();
    case RowType::timestamp:
      return value.is_string() && parse_timestamp(value.get<std::string>()).has_value();
    case RowType::records:
      return value.is_array();
  }
  return false;
}

TEST_CASE("every line has the columns of the table, in its order, with values of its types") {
  for (const TraceRow& row : {full_row(), TraceRow{}, failed_row({"a", 0, ""}, "took longer than 60 s"),
                              row_of_trace("seed_example1.xplane.pb")}) {
    const nlohmann::ordered_json line = nlohmann::ordered_json::parse(render_row(row));
    CHECK(names_in(line) == names_of(trace_row_columns()));
    for (const RowColumn& column : trace_row_columns()) {
      CAPTURE(std::string(column.name));
      const nlohmann::ordered_json& value = line[std::string(column.name)];
      CHECK(fits(column, value));
      if (column.type() != RowType::records) continue;
      for (const nlohmann::ordered_json& record : value) {
        CHECK(names_in(record) == names_of(column.fields));
        for (const RowColumn& field : column.fields) CHECK(fits(field, record[std::string(field.name)]));
      }
    }
  }
}

TEST_CASE("a row that is read back renders to the same line") {
  for (const TraceRow& row : {full_row(), TraceRow{}, failed_row({"a b\\c\"", 5, ""}, "is empty"),
                              row_of_trace("seed_example1.xplane.pb"), row_of_trace("cut_off_tf2.4.xplane.pb")}) {
    const std::string line = render_row(row);
    CAPTURE(line);
    CHECK(std::count(line.begin(), line.end(), '\n') == 1);
    const Result<TraceRow> read = parse_row(line);
    REQUIRE(read);
    CHECK(render_row(*read) == line);
  }
}

TEST_CASE("a line is the text of its document") {
  TraceRow hostile = full_row();
  hostile.file.path = "a\"b\\c\x7f\xff\n\u00e9";
  hostile.findings[0].subject = "\t";
  hostile.confidence = -0.0;
  hostile.best_gain = 1e300;
  hostile.window_us = std::numeric_limits<double>::quiet_NaN();
  for (const TraceRow& row : {full_row(), hostile, TraceRow{}, failed_row({"a", 0, ""}, "is empty"),
                              row_of_trace("seed_example1.xplane.pb")}) {
    const std::string line = render_row(row);
    CHECK(line == to_line(OrderedJson::parse(line)) + "\n");
  }
}

TEST_CASE("hostile text stays within its column and its line") {
  struct Case {
    std::string text;
    std::string read;
  };
  for (const auto& [text, expected] : std::vector<Case>{{"a\nb", "a\nb"},
                                                        {std::string("a\0b", 3), std::string("a\0b", 3)},
                                                        {"\xff\xfe", "\xEF\xBF\xBD\xEF\xBF\xBD"},
                                                        {"\",\"error\":\"", "\",\"error\":\""},
                                                        {"\x1b[31m\u202e", "\x1b[31m\u202e"}}) {
    TraceRow row = full_row();
    row.file.path = row.culprit = row.function_ops[0].op = row.findings[0].subject = text;
    const std::string line = render_row(row);
    CHECK(std::all_of(line.begin(), line.end() - 1, [](char c) { return c >= ' ' && c < 0x7f; }));
    const Result<TraceRow> read = parse_row(line);
    REQUIRE(read);
    for (const std::string* const value :
         {&read->file.path, &read->culprit, &read->function_ops[0].op, &read->findings[0].subject}) {
      CHECK(*value == expected);
    }
    CHECK(read->error.empty());
  }
}

// Rows are stored for years. What limits was of the culprit alone then, and of fewer words.
TEST_CASE("rows of version 1 are read") {
  const std::vector<std::pair<nlohmann::ordered_json, std::string>> cases = {
      {"cpu", "cores"}, {"waiting", "outside"}, {"concurrency", ""}, {"unknown", ""}, {nullptr, ""}};
  for (const auto& [before, now] : cases) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(render_row(full_row()));
    json["schema"] = "tfdata-doctor.row/1";
    json.erase("limiting_resource");
    json["limited_by"] = before;
    const Result<TraceRow> row = parse_row(json.dump());
    REQUIRE(row);
    CHECK(row->limiting_resource == now);
    CHECK(row->culprit == full_row().culprit);
  }
}

TEST_CASE("what is not a row is refused with what is wrong") {
  const std::string line = render_row(full_row());
  const auto with = [&](const std::string& column, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(line);
    json[column] = value;
    return json.dump();
  };
  const auto without = [&](const std::string& column) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(line);
    json.erase(column);
    return json.dump();
  };
  struct Case {
    std::string line;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"", "invalid JSON"},
      {line.substr(0, line.size() / 2), "invalid JSON"},
      {"[]", "not a JSON object"},
      {"{}", "'schema' is missing"},
      {with("schema", "tfdata-doctor.row/3"), "'tfdata-doctor.row/3'"},
      {without("path"), "column 'path' is missing"},
      {with("path", nullptr), "column 'path' is not a text"},
      {with("bytes", -1), "column 'bytes' is not a whole number"},
      {with("events", 1.5), "column 'events' is not a whole number"},
      {with("confidence", "high"), "column 'confidence' is not a number or null"},
      {with("window_us", nullptr), "column 'window_us' is not a number"},
      {with("complete", 1), "column 'complete' is not true or false"},
      {with("recorded_at", "yesterday"), "column 'recorded_at' is not a time"},
      {with("best_fix", 1), "column 'best_fix' is not a text or null"},
      {with("best_gain", "much"), "column 'best_gain' is not a number or null"},
      {with("best_gain_low", true), "column 'best_gain_low' is not a number or null"},
      {with("findings", nullptr), "column 'findings' is not a list"},
      {with("findings", {1}), "column 'findings' is not a list of objects"},
      {with("findings", {{{"rule", 1}}}), "column 'findings[].rule' is not a text"},
      {with("function_ops", {{{"op", "MatMul"}}}), "column 'function_ops[].self_us' is missing"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.line);
    const Result<TraceRow> read = parse_row(one.line);
    REQUIRE(!read);
    CHECK_MESSAGE(read.error().what.find(one.message) != std::string::npos, read.error().what);
  }
  CHECK(parse_row(with("column of a later version", 1)));
}

TEST_CASE("rows of before there were predictions are read") {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(render_row(full_row()));
  for (const char* const column : {"best_fix", "best_gain", "best_gain_low", "best_condition"}) json.erase(column);
  const Result<TraceRow> read = parse_row(json.dump());
  REQUIRE(read);
  CHECK(read->culprit == full_row().culprit);
  CHECK(read->best_fix.empty());
  CHECK(!read->best_gain);
  CHECK(!read->best_gain_low);
  CHECK(read->best_condition.empty());
}

TEST_CASE("rows of before there were lines of code are read") {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(render_row(full_row()));
  CHECK(parse_row(json.dump())->culprit_source == "src/input.py:33");
  json.erase("culprit_source");
  REQUIRE(parse_row(json.dump()));
  CHECK(parse_row(json.dump())->culprit_source.empty());
  CHECK(parse_row(json.dump())->sandbox == "partial");
  json.erase("sandbox");
  CHECK(parse_row(json.dump())->sandbox.empty());
}

}  // namespace
}  // namespace doctor::trace_row_test
