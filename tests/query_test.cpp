// Traces in the tables of `query`, and what statements may do.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "asked_database.h"
#include "built_paths.h"
#include "convert/convert.h"
#include "convert/event_columns.h"
#include "diagnose/catalog.h"
#include "diagnose/threshold_settings.h"
#include "query/load_inputs.h"
#include "query/tables.h"
#include "query/user_query.h"
#include "query_examples.h"
#include "run_tool.h"
#include "written_gpu_traces.h"

namespace doctor::query_test {
namespace {

using Json = nlohmann::json;

std::string why_not(const QueryDatabase& database, const std::string& sql) {
  const Result<std::string> text = ask(database, sql);
  return text ? "answered" : to_string(text.error());
}

TEST_CASE("events have the columns of the conversion, with its values") {
  const QueryTable& table = *find_query_table("events");
  REQUIRE(table.columns.size() == std::size(kEventColumnNames));
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    CHECK(table.columns[column].name == kEventColumnNames[column]);
  }
  const std::vector<std::vector<std::string>> cases = {
      {kSomeTraces[0]}, {kSomeTraces[4]}, {kSomeTraces[1], kSomeTraces[2], kSomeTraces[3]}};
  for (const std::vector<std::string>& files : cases) {
    CAPTURE(files.front());
    const QueryDatabase database = loaded(files);
    TextSink sink;
    OutputBuffer output(sink);
    convert(files, *make_event_writer(ConvertFormat::ndjson, output), {});
    REQUIRE(output.finish());
    const Result<std::string> page = ask(database, "SELECT * FROM events", TableFormat::json);
    REQUIRE(page);
    const Json rows = Json::parse(*page)["rows"];
    std::istringstream lines(sink.text);
    std::size_t number = 0;
    // The conversion counts from the start of the profile, which is before the first event.
    std::optional<double> shift;
    for (std::string line; std::getline(lines, line);) {
      Json expected = Json::parse(line);
      Json row = rows.at(number);
      row["args"] = Json::parse(row["args"].get<std::string>());
      const bool is_kernel_of_node = expected["name"] == "unknown" && row["long_name"] != expected["long_name"];
      if (is_kernel_of_node) continue;
      const double distance = expected["start_us"].get<double>() - row["start_us"].get<double>();
      CHECK(distance == doctest::Approx(shift.value_or(distance)).epsilon(1e-9));
      shift = distance;
      for (const char* const of_clock : {"start_us", "origin_ns"}) {
        row.erase(of_clock);
        expected.erase(of_clock);
      }
      REQUIRE(row == expected);
      ++number;
    }
    CHECK(number == rows.size());
    CHECK(number > 10);
  }
}

TEST_CASE("a trace with more names of events than are kept at once has each event under its name") {
  constexpr int kNames = static_cast<int>(EventNames::kMostKnown) + 10;
  SyntheticTrace trace;
  for (int event = 0; event < 2 * kNames; ++event)
    trace.add("main", fmt::format("op{}:Cast", event % kNames), event, 1);
  const TemporaryDirectory folder;
  const QueryDatabase database = loaded({folder.write("many.xplane.pb", trace.to_xspace())});
  CHECK(answer(database, "SELECT count(*), count(DISTINCT name) FROM events") ==
        fmt::format("{},{}\n", 2 * kNames, kNames));
  CHECK(answer(database, "SELECT min(n), max(n) FROM (SELECT count(*) AS n FROM events GROUP BY name)") == "2,2\n");
}

TEST_CASE("times of all tables count from the first event") {
  // Of a trace with a device whose first event is the device's, and is not at the start of a line.
  SyntheticTrace host;
  for (int step = 0; step < 3; ++step) {
    host.add("python", "IteratorGetNextOp::DoCompute", 100.1234 + step * 50, 20);
    host.iterator("python", "Iterator::Root", 1, 0, 101 + step * 50, 18);
  }
  GpuTrace gpu(host.to_message());
  gpu.kernel(12.5, 30, WrittenGpuJob().kernel);
  const TemporaryDirectory folder;
  const std::string device = folder.write("gpu.xplane.pb", gpu.to_xspace());
  const std::string json = folder.write("host.trace.json", host.to_chrome_json());
  for (const std::vector<std::string>& files : {std::vector<std::string>{device},
                                                {json},
                                                {kSomeTraces[0]},
                                                {kSomeTraces[4]},
                                                {kSomeTraces[1], kSomeTraces[2]},
                                                {kTraces + "two_replicas_tf2.4.trace.json.gz"},
                                                kSomeTraces}) {
    CAPTURE(files.front());
    const QueryDatabase database = loaded(files);
    CHECK(answer(database, "SELECT min(start_us) FROM events") == "0\n");
    CHECK(answer(database, "SELECT count(*) > 0 FROM calls") == "1\n");
    CHECK(answer(database,
                 "SELECT count(*) FROM calls WHERE NOT EXISTS (SELECT 1 FROM events"
                 " WHERE abs(events.start_us - calls.start_us) < 1e-3"
                 " AND abs(events.duration_us - calls.latency_us) < 1e-3"
                 " AND (events.long_name LIKE '%Iterator%' OR events.op_type LIKE 'IteratorGetNext%'))") == "0\n");
    // A step is a marker, or a run of a session.
    CHECK(answer(database, "SELECT count(*) FROM steps WHERE start_us < 0") == "0\n");
    CHECK(answer(database,
                 "SELECT count(*) FROM segments JOIN calls USING (trace, host, pipeline, call)"
                 " WHERE segments.start_us < calls.start_us - 1e-3"
                 " OR segments.start_us > calls.start_us + calls.latency_us + 1e-3") == "0\n");
  }
}

TEST_CASE("timelines beside a merged one, and ops that are drawn twice, count once") {
  const TemporaryDirectory folder;
  std::vector<std::string> files;
  Json merged = {{"traceEvents", Json::array()}};
  for (const char step : {'0', '1', '2'}) {
    const std::string name = std::string("timeline_") + step + ".json";
    const std::string bytes = read_whole_file(kTraces + "tf1_steps/" + name);
    files.push_back(folder.write(name, bytes));
    const Json document = Json::parse(bytes);
    for (const Json& event : document["traceEvents"]) merged["traceEvents"].push_back(event);
  }
  const std::string counts =
      "SELECT (SELECT count(*) FROM events), (SELECT sum(occurrences) FROM ops), (SELECT count(*) FROM calls)";
  const std::string once = answer(loaded(files), counts);
  files.push_back(folder.write("timeline_merged.json", merged.dump()));
  CHECK(answer(loaded({files.back()}), counts) == once);
  CHECK(answer(loaded(files), counts) == once);

  Result<QueryDatabase> database = QueryDatabase::temporary();
  LoadReport report;
  REQUIRE(
      load_inputs(*database, examine_inputs(files, true), LoadRequest::everything(), {.rules = all_rules()}, report));
  REQUIRE(report.repeated.size() == 1);  // the merged one, whose path comes last
  CHECK(report.repeated.front().what.find("events of it in other files") != std::string::npos);
}

TEST_CASE("all tables have the columns that are described, and rows") {
  const QueryDatabase database = loaded(kSomeTraces);
  for (const QueryTable& table : query_tables()) {
    CAPTURE(table.name);
    const Result<UserQuery> query = UserQuery::prepare(database, "SELECT * FROM " + std::string(table.name));
    REQUIRE(query);
    const std::vector<std::string> columns = query->columns();
    REQUIRE(columns.size() == table.columns.size());
    for (std::size_t column = 0; column < columns.size(); ++column)
      CHECK(columns[column] == table.columns[column].name);
    const bool has_rows = answer(database, "SELECT count(*) FROM " + std::string(table.name)) != "0\n";
    CHECK(has_rows == (table.name != "kernels"));  // none of these traces has a device
  }
}

TEST_CASE("every example has an answer") {
  const QueryDatabase database = loaded(kSomeTraces);
  for (const QueryExample& example : query_examples()) {
    CAPTURE(example.sql);
    const std::string rows = answer(database, std::string(example.sql));
    CHECK(rows.empty() == (example.sql.find("FROM kernels") != std::string_view::npos));
  }
}

TEST_CASE("the segments of a call sum to its latency, the calls are those of the pipeline") {
  const QueryDatabase database = loaded(kSomeTraces);
  CHECK(
      answer(database,
             "SELECT count(*) FROM (SELECT latency_us, sum(duration_us) AS held_us FROM calls JOIN segments"
             " ON segments.trace = calls.trace AND segments.host = calls.host"
             " AND segments.pipeline IS calls.pipeline AND segments.call = calls.call"
             " GROUP BY calls.trace, calls.host, calls.pipeline, calls.call) WHERE abs(latency_us - held_us) > 1e-3") ==
      "0\n");
  CHECK(answer(database, "SELECT count(*) FROM calls JOIN traces USING (trace) WHERE path LIKE '%seed%'") == "8\n");
  CHECK(answer(database, "SELECT culprit_dataset, verdict FROM traces WHERE path LIKE '%seed%'") ==
        "Map,input_bound\n");
  CHECK(answer(database, "SELECT count(*) FROM traces") == "3\n");
  CHECK(answer(database, "SELECT count(DISTINCT trace) FROM files WHERE format = 'tf1_timeline'") == "1\n");
}

TEST_CASE("iterators have the line of the program where the names of a trace, or the file beside it, say it") {
  const std::string named = source_dir() + "/testdata/lines/lines_of_code_tf2.21/vm.xplane.pb.gz";
  const QueryDatabase database = loaded({named, kSomeTraces[0]});
  CHECK(answer(database,
               "SELECT DISTINCT source_file, source_line FROM iterators WHERE source_line IS NOT NULL ORDER BY 2") ==
        "/home/me/flowers/src/input.py,16\n/home/me/flowers/src/input.py,17\n/home/me/flowers/src/input.py,18\n"
        "/home/me/flowers/src/input.py,19\n/home/me/flowers/src/input.py,20\n");
  CHECK(answer(database,
               "SELECT count(*) FROM iterators JOIN files USING (trace) WHERE path LIKE '%seed%'"
               " AND (source_file IS NOT NULL OR source_line IS NOT NULL)") == "0\n");
}

TEST_CASE("the order of files and a second name change nothing") {
  const TemporaryDirectory folder;
  std::vector<std::string> files = kSomeTraces;
  const std::string tables[] = {"events", "iterators", "calls", "segments", "ops", "findings", "files"};
  const QueryDatabase database = loaded(files);
  std::reverse(files.begin(), files.end());
  files.push_back(folder.write("zzz.pb", read_whole_file(kSomeTraces[0])));
  files.push_back(kSomeTraces[1]);
  const QueryDatabase other = loaded({files.rbegin(), files.rend()});
  const QueryDatabase again = loaded(files);
  for (const std::string& table : tables) {
    const std::string sql = "SELECT * FROM " + table;
    CAPTURE(sql);
    // The first name in the alphabet is that of the content: the folder's may come first.
    const std::string shared = "SELECT count(*) FROM " + table;
    CHECK(answer(again, shared) == answer(database, shared));
    CHECK((answer(again, sql) == answer(other, sql)));
  }
}

TEST_CASE("only what a statement reads is asked for") {
  struct Row {
    const char* sql;
    std::vector<std::string> tables;
    bool arguments;
  };
  const std::vector<Row> rows = {
      {"SELECT 1", {}, false},
      {"SELECT count(*) FROM events", {"events"}, false},
      {"SELECT name FROM events AS e", {"events"}, false},
      {"SELECT * FROM events", {"events"}, true},
      {"SELECT e.args ->> '$.id' FROM events AS e", {"events"}, true},
      {"WITH a AS (SELECT long_name FROM events) SELECT * FROM a", {"events"}, false},
      {"SELECT count(*) FROM findings", {"findings"}, false},
      {"SELECT 1 WHERE EXISTS (SELECT * FROM calls JOIN segments USING (call))", {"calls", "segments"}, false},
      {"SELECT sum(dur), arg_name FROM timeline_events GROUP BY arg_name", {"events", "timeline_events"}, true},
      {"SELECT count(*) FROM timeline_events", {"events", "timeline_events"}, true},
      {"EXPLAIN QUERY PLAN SELECT * FROM steps", {"steps"}, false},
  };
  const Result<QueryDatabase> database = QueryDatabase::temporary();
  REQUIRE(database);
  for (const Row& row : rows) {
    CAPTURE(row.sql);
    const Result<UserQuery> query = UserQuery::prepare(*database, row.sql);
    REQUIRE_MESSAGE(query, to_string(query.error()));
    for (const QueryTable& table : query_tables()) {
      CAPTURE(table.name);
      const bool is_named = std::find(row.tables.begin(), row.tables.end(), table.name) != row.tables.end();
      CHECK(query->needs().has(table.name) == is_named);
    }
    CHECK(query->needs().arguments == row.arguments);
  }
}

TEST_CASE("faults of SQL are told with their place and the nearest name") {
  struct Row {
    const char* sql;
    const char* message;
  };
  const std::vector<Row> rows = {
      {"", "SQL: there is no statement"},
      {"-- nothing\n ;", "SQL: there is no statement"},
      {"SELECT * FROM event", "SQL: no such table: event at byte 14; did you mean 'events'?"},
      {"SELECT duration_u FROM events", "SQL: no such column: duration_u at byte 7; did you mean 'duration_us'?"},
      {"SELECT e.lng_name FROM events AS e", "no such column: e.lng_name at byte 7; did you mean 'long_name'?"},
      {"SELECT pipeline, long_name, calls FROM iterators",
       "no such column: pipeline at byte 7; 'pipeline' is a column of calls, segments"},
      {"SELECT host FROM calls JOIN segments ON calls.call = segments.call",
       "ambiguous column name: host at byte 7; write the table, or its alias, before it"},
      {"SELEC 1", "SQL: near \"SELEC\": syntax error at byte 0"},
      {"SELECT 1; SELECT 2", "SQL: more than one statement at byte 9"},
      {"SELECT 1; nonsense", "SQL: more than one statement at byte 9"},
      {"SELECT ?", "SQL: a parameter has no value"},
      {"DELETE FROM events", "SQL: "},
      {"DELETE FROM files", "SQL: only SELECT, WITH, VALUES and EXPLAIN are run"},
      {"INSERT INTO files VALUES (1)", "SQL: "},
      {"DROP TABLE files", "SQL: only SELECT"},
      {"CREATE TABLE a (b)", "SQL: only SELECT"},
      {"CREATE TEMP TABLE a (b)", "SQL: only SELECT"},
      {"ATTACH '/tmp/x' AS y", "SQL: only SELECT"},
      {"PRAGMA user_version = 3", "SQL: only SELECT"},
      {"PRAGMA user_version", "SQL: only SELECT"},
      {"VACUUM", "SQL: only SELECT"},
      {"VACUUM INTO '/tmp/x'", "SQL: only SELECT"},
      {"BEGIN", "SQL: only SELECT"},
      {"SELECT load_extension('x')", "SQL: "},
      {"EXPLAIN DELETE FROM files", "SQL: only SELECT"},
      {"SELECT abs(-9223372036854775807 - 1)", "SQL: integer overflow"},
      {"SELECT json('{')", "SQL: malformed JSON"},
  };
  const Result<QueryDatabase> database = QueryDatabase::temporary();
  REQUIRE(database);
  for (const Row& row : rows) {
    CAPTURE(row.sql);
    const std::string message = why_not(*database, row.sql);
    CHECK_MESSAGE(message.find(row.message) != std::string::npos, message);
  }
  for (const char* sql :
       {"SELECT 1;", "SELECT 1; -- done", "VALUES (1)", "WITH a AS (SELECT 1) SELECT * FROM a",
        "WITH RECURSIVE a(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM a WHERE n < 3) SELECT n FROM a"}) {
    CHECK(why_not(*database, sql) == "answered");
  }
}

TEST_CASE("values in every format") {
  const Result<QueryDatabase> database = QueryDatabase::temporary();
  REQUIRE(database);
  const std::string sql =
      "SELECT NULL AS n, 9223372036854775807 AS i, 0.1 AS r, '=cmd()' AS t, x'00ff' AS b, 1234.56789 AS r, 9e999 AS "
      "inf";
  CHECK(*ask(*database, sql, TableFormat::csv) ==
        "n,i,r,t,b,r,inf\n,9223372036854775807,0.1,'=cmd(),00ff,1234.56789,inf\n");
  const Json row = Json::parse(*ask(*database, sql, TableFormat::json))["rows"][0];
  CHECK(row["n"].is_null());
  CHECK(row["i"] == 9223372036854775807);
  CHECK(row["r"] == 0.1);
  CHECK(row["t"] == "=cmd()");
  CHECK(row["b"] == "00ff");
  CHECK(row["r_2"] == 1234.56789);
  CHECK(row["inf"].is_null());
  CHECK(*ask(*database, sql, TableFormat::text) ==
        "   n                    i    r  t       b               r  inf\n"
        "NULL  9223372036854775807  0.1  =cmd()  x'00ff'  1234.568  inf\n");
  CHECK(ask(*database, sql, TableFormat::markdown)->find("| NULL | 9223372036854775807 | 0.1 | `=cmd()` |") !=
        std::string::npos);
  CHECK(*ask(*database, "SELECT 1 WHERE 0", TableFormat::text) == "no rows\n");
  CHECK(Json::parse(*ask(*database, "SELECT 1 WHERE 0", TableFormat::json))["rows"].empty());
  CHECK(ask(*database, "SELECT char(27) || '[31m'", TableFormat::text)->find('\x1b') == std::string::npos);
  // Wider than what the first thousand rows need: nothing is cut.
  const std::string many =
      "WITH RECURSIVE a(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM a WHERE n < 100000) "
      "SELECT n, n FROM a";
  const std::string text = *ask(*database, many, TableFormat::text);
  CHECK(std::count(text.begin(), text.end(), '\n') == 100'001);
  CHECK(text.ends_with("100000  100000\n"));
}

}  // namespace
}  // namespace doctor::query_test
