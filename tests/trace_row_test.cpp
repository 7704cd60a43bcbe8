// One line of NDJSON for a stored trace: what it says, that it can be read back, and what is no row.

#include "fleet/trace_row.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "built_paths.h"
#include "diagnose/catalog.h"
#include "fleet/row_columns.h"
#include "pipeline.h"
#include "report/report.h"
#include "temporary_directory.h"
#include "text/timestamp.h"

namespace doctor::trace_row_test {
namespace {

namespace fs = std::filesystem;

const fs::path kTraces = fs::path(source_dir()) / "testdata" / "traces";

Analysis analysis_of(const std::string& file) {
  return diagnose_files(std::vector{file}, {.rules = all_rules()});
}

TraceRow row_of_file(const std::string& file) {
  const Analysis analysis = analysis_of(file);
  return row_of({file, 7, std::string(64, 'a')}, analysis.measurements, analysis.diagnosis, analysis.unreadable);
}

TraceRow row_of_trace(const std::string& name) {
  return row_of_file((kTraces / name).string());
}

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

TEST_CASE("the best fix is the first change whose gain is known") {
  const auto finding = [](const std::string& rule, double gain, Condition condition) {
    Finding result;
    result.rule = rule;
    result.advice.push_back({"explains", std::nullopt});
    result.advice.push_back({"do it", std::nullopt});
    Prediction then;
    then.estimate = 10 * gain;
    then.low = 10 * gain - 1;
    then.condition = condition;
    result.advice.back().gain = Gain{10, then, {}};
    return result;
  };
  Measurements measurements;
  measurements.hosts.emplace_back();
  Diagnosis diagnosis;
  const auto row = [&] { return row_of({}, measurements, diagnosis, {}); };
  diagnosis.findings.resize(1);
  CHECK(row().best_fix.empty());
  CHECK(!row().best_gain);
  diagnosis.findings.push_back(finding("python-function", 4, Condition::python_releases_lock));
  diagnosis.changes = {{1, 1, {}, {}}};
  CHECK(row().best_fix == "python-function");
  CHECK(row().best_condition == "python_releases_lock");
  diagnosis.findings.push_back(finding("missing-prefetch", 1.25, Condition::none));
  diagnosis.findings.push_back(finding("sequential-map", 1.5, Condition::none));
  diagnosis.findings.push_back(finding("slow-source", 1.5, Condition::none));
  diagnosis.changes = {{3, 1, {}, {}}, {4, 1, {}, {}}, {2, 1, {}, {}}, {1, 1, {}, {}}};
  CHECK(row().best_fix == "sequential-map");
  CHECK(row().best_gain == 1.5);
  CHECK(row().best_condition.empty());
  CHECK(row().best_gain_low == doctest::Approx(1.4));
  diagnosis.findings[3].suppressed.emplace();
  CHECK(row().best_fix == "slow-source");
}

TEST_CASE("a row says what the JSON report says") {
  for (const char* const name : {"seed_example1.xplane.pb", "healthy_tf2.4.trace.json.gz", "no_tf_data_tf2.4.xplane.pb",
                                 "tf1_sequential_map.timeline.json", "two_replicas_tf2.4.trace.json.gz"}) {
    CAPTURE(name);
    const std::string file = (kTraces / name).string();
    const Analysis analysis = analysis_of(file);
    const TraceRow row = row_of({file, 1, ""}, analysis.measurements, analysis.diagnosis, analysis.unreadable);
    const auto report = nlohmann::ordered_json::parse(render_json(analysis.measurements, analysis.diagnosis));
    const auto line = nlohmann::ordered_json::parse(render_row(row));
    const auto& verdict = report["verdict"];
    CHECK(line["verdict"] == verdict["status"]);
    CHECK(line["confidence"] == verdict["confidence"]);
    CHECK(line["input_share"] == verdict["input_share"]);
    CHECK(line["events"] == report["trace"]["events"]);
    CHECK(line["window_us"] == report["trace"]["window_us"]);
    CHECK(line["format"] == report["trace"]["files"][0]["format"]);
    CHECK(line["error"].is_null());
    CHECK(line["findings"].size() == report["findings"].size());
    if (verdict["culprit"].is_null()) {
      CHECK(line["culprit"].is_null());
    } else {
      CHECK(line["culprit"] == verdict["culprit"]["long_name"]);
      CHECK(line["culprit_kind"] == verdict["culprit"]["kind"]);
      CHECK(line["culprit_share"] == verdict["culprit"]["share"]);
      CHECK(line["limiting_resource"] == verdict["limiting_resource"]);
      CHECK(line["function_ops"].size() == std::min<std::size_t>(3, verdict["culprit"]["function_ops"].size()));
    }
    double lost = 0;
    for (const auto& pipeline : report["pipelines"]) {
      if (!pipeline["feeds_another"]) lost += pipeline["get_next"]["total_us"].get<double>();
    }
    CHECK(line["input_lost_us"].get<double>() == doctest::Approx(lost));
    if (!report["pipelines"].empty()) {
      CHECK(line["get_next_p50_us"] == report["pipelines"][0]["get_next"]["p50_us"]);
      CHECK(line["get_next_p95_us"] == report["pipelines"][0]["get_next"]["p95_us"]);
      CHECK(line["get_next_max_us"] == report["pipelines"][0]["get_next"]["max_us"]);
      CHECK(line["get_next_count"] == report["pipelines"][0]["get_next"]["count"]);
    }
  }
}

TEST_CASE("a diagnosis for rows alone has the rows of one for reports") {
  std::size_t gains = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kTraces)) {
    const std::string file = entry.path().string();
    CAPTURE(file);
    const Analysis brief = diagnose_files(std::vector{file}, {.rules = all_rules(), .scope = DiagnosisScope::row});
    const TraceRow row = row_of({file, 7, std::string(64, 'a')}, brief.measurements, brief.diagnosis, brief.unreadable);
    CHECK(render_row(row) == render_row(row_of_file(file)));
    gains += row.best_gain.has_value() ? 1 : 0;
  }
  CHECK(gains > 10);
}

TEST_CASE("time is lost where consumers wait, not where pipelines feed each other or devices compute meanwhile") {
  Measurements measurements;
  HostMeasurement& host = measurements.hosts.emplace_back();
  const auto add_pipeline = [&](Picoseconds warmup, Picoseconds steady) -> PipelineMeasurement& {
    PipelineMeasurement& pipeline = host.pipelines.emplace_back();
    pipeline.warmup.waited = warmup;
    pipeline.steady.waited = steady;
    pipeline.total = warmup + steady;
    return pipeline;
  };
  add_pipeline(1'000'000, 2'000'000);
  add_pipeline(10'000'000, 20'000'000).exposed.emplace().time = 5'000'000;
  add_pipeline(100'000'000, 200'000'000).feeds_another = true;
  CHECK(row_of({}, measurements, {}, {}).input_lost_us == 3 + 15);
}

TEST_CASE("findings that are suppressed are in no row") {
  Measurements measurements;
  measurements.hosts.emplace_back();
  Diagnosis diagnosis;
  diagnosis.findings.resize(2);
  diagnosis.findings[0].rule = "input-bound";
  diagnosis.findings[0].suppressed.emplace();
  diagnosis.findings[1].rule = "slow-source";
  const TraceRow row = row_of({}, measurements, diagnosis, {});
  REQUIRE(row.findings.size() == 1);
  CHECK(row.findings[0].rule == "slow-source");
}

TEST_CASE("a file that could not be read has a row with the reason, without a diagnosis") {
  const TemporaryDirectory directory;
  const TraceRow row = row_of_file(directory.write("words.txt", "no trace at all\n"));
  CHECK(!row.error.empty());
  CHECK(row.error.find("words.txt") == std::string::npos);
  CHECK(row.verdict.empty());
  CHECK(!row.confidence);
  CHECK(row.format.empty());
  CHECK(!row.is_complete);
}

TEST_CASE("rows say when the trace was recorded, where its file does") {
  CHECK(row_of_trace("seed_example1.xplane.pb").recorded_ns == 1795272060462218363);  // beside its events
  CHECK(row_of_trace("no_tf_data_tf2.4.xplane.pb").recorded_ns == 0);                 // times from the beginning on
  CHECK(row_of_trace("healthy_tf2.4.trace.json.gz").recorded_ns == 0);
  // At the first event that is kept, on a clock that counts from 1970.
  CHECK(to_timestamp(row_of_trace("session_timeline_tf2.21.json").recorded_ns) == "2026-11-21T14:43:32.587785Z");
}

TEST_CASE("the same program has the same signature, whatever recorded it") {
  const fs::path testdata = fs::path(source_dir()) / "testdata";
  const auto signature = [&](const std::string& name) { return row_of_file((testdata / name).string()).signature; };
  const std::string unchanged = signature("compare/unchanged/base.xplane.pb");
  CHECK(unchanged.size() == 16);
  CHECK(signature("compare/unchanged/candidate.xplane.pb") == unchanged);
  // Another recording tool.
  CHECK(signature("formats/interleave_tf2.21/host.xplane.pb") ==
        signature("formats/interleave_tf2.21/host.xprof.trace.json.gz"));
  // Other parallelism.
  CHECK(signature("compare/parallelism_lowered/base.xplane.pb") ==
        signature("compare/parallelism_lowered/candidate.xplane.pb"));
  CHECK(signature("compare/parallelism_removed/base.xplane.pb") ==
        signature("compare/parallelism_removed/candidate.xplane.pb"));
  // Another frame of the runtime, and no repeat.
  CHECK(signature("traces/seed_example1.xplane.pb") == signature("traces/tf1_sequential_map.timeline.json"));
  // Another structure.
  CHECK(signature("compare/cache_removed/base.xplane.pb") != signature("compare/cache_removed/candidate.xplane.pb"));
  CHECK(signature("compare/batch_and_map_swapped/base.xplane.pb") !=
        signature("compare/batch_and_map_swapped/candidate.xplane.pb"));
  CHECK(signature("traces/no_tf_data_tf2.4.xplane.pb").empty());
}

TEST_CASE("times of 1970 to 2261 are spelled and read back") {
  struct Case {
    std::int64_t nanoseconds;
    std::string text;
  };
  for (const Case& one : std::vector<Case>{{0, "1970-01-01T00:00:00.000000Z"},
                                           {1'795'272'060'462'218'000, "2026-11-21T14:41:00.462218Z"},
                                           {951'782'400'000'000'000, "2000-02-29T00:00:00.000000Z"},
                                           {-1'000, "1969-12-31T23:59:59.999999Z"}}) {
    CHECK(to_timestamp(one.nanoseconds) == one.text);
    CHECK(parse_timestamp(one.text) == one.nanoseconds);
  }
  CHECK(parse_timestamp("2026-11-21T14:41:00Z") == 1'795'272'060'000'000'000);
  CHECK(parse_timestamp("2026-11-21T14:41:00.25Z") == 1'795'272'060'250'000'000);
  for (const char* const wrong : {"", "Z", "2026-11-21", "2026-11-21T14:41:00", "2026-11-21T14:41:00+01:00",
                                  "2026-02-30T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T14:41:00.Z",
                                  "2026-11-21T14:41:00.xZ", "0001-01-01T00:00:00Z", "9999-01-01T00:00:00Z"}) {
    CAPTURE(wrong);
    CHECK(!parse_timestamp(wrong));
  }
}

TEST_CASE("the SHA-256 of a file is that of its stored bytes") {
  const TemporaryDirectory directory;
  // Of FIPS 180-2, appendix B.1 and B.3.
  CHECK(sha256_of_file(directory.write("abc", "abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_of_file(directory.write("million", std::string(1'000'000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(sha256_of_file(directory.write("empty", "")) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(!sha256_of_file(directory / "missing"));
  CHECK(!sha256_of_file(directory.path()));
}

}  // namespace

}  // namespace doctor::trace_row_test
