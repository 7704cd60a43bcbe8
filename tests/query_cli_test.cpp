// `tfdata-doctor query` and `schema` from outside: the commands of docs/query.md, databases that are kept, errors.

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "run_tool.h"
#include "sanitizer.h"

namespace doctor::query_cli_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string kTraces = source_dir() + "/testdata/traces/";
const std::string kTrace = kTraces + "seed_example1.xplane.pb";
const std::string kLongTrace = source_dir() + "/testdata/bench/base.xplane.pb.gz";
const std::string kSteps = kTraces + "tf1_steps/timeline_";

/// The blocks of shell commands under a heading of docs/query.md.
std::string commands_under(const std::string& heading) {
  const std::string page = read_whole_file(source_dir() + "/docs/query.md");
  std::size_t at = page.find("## " + heading + "\n");
  REQUIRE(at != std::string::npos);
  const std::size_t end = page.find("\n## ", at + 1);
  std::string commands;
  for (at = page.find("```sh\n", at); at < end; at = page.find("```sh\n", at)) {
    at += 6;
    const std::size_t close = page.find("```", at);
    commands += page.substr(at, close - at);
    at = close;
  }
  return commands;
}

/// Sum and count of the durations by name of all TF1 timelines in the folder, without any code of ours.
std::map<std::string, std::pair<double, int>> totals_of(const std::string& folder) {
  std::map<std::string, std::pair<double, int>> totals;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const Json page = Json::parse(read_whole_file(entry.path().string()));
    for (const Json& event : page["traceEvents"]) {
      if (event.value("ph", "") != "X") continue;
      const std::string name = event["args"].value("name", "");
      if (!name.starts_with("Iterator::")) continue;
      totals[name].first += event["dur"].get<double>();
      ++totals[name].second;
    }
  }
  return totals;
}

Json rows_of(const Ended& ended) {
  REQUIRE_MESSAGE(ended.code == 0, ended.errors);
  return Json::parse(ended.output)["rows"];
}

std::string number_in(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"query"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.insert(all.end(), {"--format", "csv"});
  const Ended ended = run_tool(all);
  REQUIRE_MESSAGE(ended.code == 0, ended.errors);
  return ended.output.substr(ended.output.find('\n') + 1);
}

}  // namespace

TEST_CASE("query judges by the settings that diagnose and batch judge by") {
  const std::string trace = kTraces + "unbatch_tf2.21.xprof.trace.json.gz";
  // "verdict findings", of each of the three.
  const auto answers = [&](const std::vector<std::string>& options) {
    const auto run = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.end(), options.begin(), options.end());
      return run_tool(arguments);
    };
    const Json report = Json::parse(run({"diagnose", "--format", "json", trace}).output);
    std::size_t counting = 0;
    for (const Json& finding : report["findings"]) counting += finding.contains("suppressed") ? 0 : 1;
    const Json row = Json::parse(run({"batch", "-q", trace}).output);
    const std::string asked =
        run({"query", "select verdict || ' ' || (select count(*) from findings) from traces", trace, "--format", "csv"})
            .output;
    return std::vector<std::string>{report["verdict"]["status"].get<std::string>() + " " + std::to_string(counting),
                                    row["verdict"].get<std::string>() + " " + std::to_string(row["findings"].size()),
                                    asked.substr(asked.find('\n') + 1, asked.rfind('\n') - asked.find('\n') - 1)};
  };
  const auto agree = [&](const std::vector<std::string>& options, const std::string& verdict) {
    const std::vector<std::string> said = answers(options);
    CHECK(said[0].starts_with(verdict + " "));
    CHECK(said[1] == said[0]);
    CHECK(said[2] == said[0]);
    return said[0];
  };
  const std::string by_default = agree({"--no-config"}, "input_bound");
  const std::string share = "input-bound.min_share=0.6";
  agree({"--no-config", "--set", share}, "healthy");
  const TemporaryDirectory folder;
  const std::string file = folder.write(".tfdata-doctor.toml", "[thresholds.input-bound]\nmin_share = 0.6\n");
  agree({"--config", file}, "healthy");
  const std::string accepted =
      folder.write("accepted.toml", "[[suppress]]\nrule = \"input-bound\"\nreason = \"known\"\n");
  CHECK(agree({"--config", accepted}, "input_bound") != by_default);
  CHECK(agree({"--no-config", "--suppress", "input-bound"}, "input_bound") != by_default);
  const EnvironmentVariable set("TFDATA_DOCTOR_SET", share);
  agree({"--no-config"}, "healthy");
}

TEST_CASE("the documented way from TF1 timelines to the costliest iterators") {
  const TemporaryDirectory folder;
  for (const char* number : {"0", "1", "2"}) {
    folder.write(std::string("timeline_") + number + ".json", read_whole_file(kSteps + number + ".json"));
  }
  std::string commands = commands_under("TF1 timelines");
  // The warehouse itself is not here.
  const std::size_t load = commands.find("bq load");
  REQUIRE(load != std::string::npos);
  commands.replace(load, commands.find('\n', load) - load, "true");
  const std::string script = folder.write("commands.sh", "set -e\ncd '" + folder.path() + "'\nPATH=\"" +
                                                             fs::path(tool_path()).parent_path().string() +
                                                             ":$PATH\"\nexport TFDATA_DOCTOR_FORMAT=json\n" + commands);
  const int code = std::system(("bash '" + script + "' > '" + folder / "answer" + "'").c_str());
  REQUIRE(code == 0);

  const Json rows = Json::parse(read_whole_file(folder / "answer"))["rows"];
  fs::create_directory(folder / "steps");
  for (const char* name : {"timeline_0.json", "timeline_1.json", "timeline_2.json"}) {
    fs::copy(folder / name, fs::path(folder / "steps") / name);
  }
  const auto expected = totals_of(folder / "steps");
  REQUIRE(!rows.empty());
  CHECK(rows.size() == std::min<std::size_t>(expected.size(), 20));
  double last = rows[0]["total_us"];
  for (const Json& row : rows) {
    const auto& [total, count] = expected.at(row["long_name"]);
    CHECK(row["total_us"].get<double>() == doctest::Approx(total));
    CHECK(row["avg(duration_us)"].get<double>() == doctest::Approx(total / count));
    CHECK(row["total_us"].get<double>() <= last);
    last = row["total_us"];
  }
  CHECK(fs::file_size(folder / "events.ndjson") > 0);
  CHECK(Json::parse(read_whole_file(folder / "schema.json")).size() == 15);
}

TEST_CASE("the same content counts once, whatever it is called, and standard input is a trace") {
  const TemporaryDirectory folder;
  const std::string other = folder.write("other.pb", read_whole_file(kTrace));
  const std::string sql = "SELECT count(*) FROM events";
  const std::string once = number_in({sql, kTrace});
  const Ended twice = run_tool({"query", sql, kTrace, other, kTrace, "--format", "csv"});
  CHECK(twice.code == 0);
  CHECK(twice.output == "count(*)\n" + once);
  Tool tool;
  tool.input = read_whole_file(kTrace);
  CHECK(tool.run({"query", sql, "-", "--format", "csv"}).output == "count(*)\n" + once);
  CHECK(tool.run({"query", "SELECT path, format FROM files", "-", "--format", "csv"}).output ==
        "path,format\nstandard input,xspace\n");
  tool.input = "SELECT count(*)\nFROM events -- all\n;\n";
  CHECK(tool.run({"query", "-", kTrace, "--format", "csv"}).output == "count(*)\n" + once);
  const std::string file = folder.write("question.sql", sql);
  CHECK(run_tool({"query", "--sql-file", file, kTrace, "--format", "csv"}).output == "count(*)\n" + once);
}

TEST_CASE("a database is kept: each trace is loaded once, and it can be asked without traces") {
  const TemporaryDirectory folder;
  const std::string database = folder / "traces.db";
  const std::string sql = "SELECT count(*) FROM events";
  const std::string once = number_in({sql, kTrace});
  CHECK(number_in({sql, kTrace, "--db", database}) == once);
  CHECK(number_in({sql, kTrace, "--db", database}) == once);
  CHECK(number_in({sql, folder.write("other.pb", read_whole_file(kTrace)), "--db", database}) == once);
  CHECK(number_in({sql, "--db", database}) == once);
  const Json memory = rows_of(run_tool({"query", "SELECT * FROM segments", kTrace, "--format", "json"}));
  CHECK(rows_of(run_tool({"query", "SELECT * FROM segments", "--db", database, "--format", "json"})) == memory);
  // One more, from before: all times count from its start then, as if they had been loaded together.
  CHECK(number_in({"SELECT count(*) FROM files", kSteps + "0.json", kSteps + "1.json", "--db", database}) == "3\n");
  const std::string order =
      "SELECT start_us, duration_us, name FROM events WHERE file LIKE '%timeline%' ORDER BY 1, 2, 3";
  CHECK(number_in({order, "--db", database}) == number_in({order, kSteps + "1.json", kTrace, kSteps + "0.json"}));
}

TEST_CASE("a program that ends while it loads leaves no half of a trace") {
  if (kHasSanitizer) return;  // see sanitizer.h
  const TemporaryDirectory folder;
  const std::string database = folder / "traces.db";
  CHECK(number_in({"SELECT count(*) FROM files", kSteps + "0.json", "--db", database}) == "1\n");
  bool has_ended = false;
  for (const char* limit : {"2M", "4M", "8M", "12M", "16M", "24M", "48M"}) {
    const Ended ended =
        run_tool({"query", "SELECT count(*) FROM events", kLongTrace, "--db", database, "--max-memory", limit});
    if (ended.code == 0) break;
    has_ended = true;
    CHECK(ended.errors.find("more memory is needed") != std::string::npos);
    CHECK(number_in({"SELECT count(*) FROM files", "--db", database}) == "1\n");
    CHECK(number_in({"SELECT count(DISTINCT file) FROM events", "--db", database}) == "1\n");
  }
  CHECK(has_ended);
}

TEST_CASE("query says what is wrong and ends with 2") {
  const TemporaryDirectory folder;
  const std::string trace = folder.write("host.pb", read_whole_file(kTrace));
  const std::string text = folder.write("readme.txt", "no trace");
  const std::string of_others = folder / "others.db";
  sqlite3* others = nullptr;
  REQUIRE(sqlite3_open(of_others.c_str(), &others) == SQLITE_OK);
  CHECK(sqlite3_exec(others, "CREATE TABLE t (x)", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(others);
  struct Row {
    std::vector<std::string> arguments;
    const char* part;
  };
  const std::vector<Row> rows = {
      {{"query"}, "query needs SQL"},
      {{"query", "SELECT 1"}, "no trace given"},
      {{"query", "SELECT 1 FROM event", trace}, "did you mean 'events'?"},
      {{"query", "DROP TABLE files", trace}, "only SELECT, WITH, VALUES and EXPLAIN are run"},
      {{"query", "SELECT 1", folder / "missing.pb"}, "no such file"},
      {{"query", "SELECT count(*) FROM events", text}, "readme.txt: this is not a trace"},
      {{"query", "SELECT 1", "--db", folder / "missing.db"}, "cannot be opened"},
      {{"query", "SELECT 1", trace, "--db", of_others}, "is a database of another program, no query database"},
      {{"query", "SELECT 1", trace, "--db", text}, "cannot be read: file is not a database"},
      {{"query", "SELECT 1", trace, "-o", trace}, "is a trace that is read"},
      {{"query", "-", "-"}, "both the SQL and a trace are to be standard input"},
      {{"query", "SELECT 1", trace, "--format", "sarif"}, "sarif"},
      {{"query", "SELECT 1", trace, "--max-memory", "nothing"}, "nothing"},
      {{"schema"}, "schema needs a document or --for"},
      {{"schema", "report", "--for", "duckdb"}, "not both"},
      {{"schema", "reportt"}, "did you mean 'report'?"},
      {{"schema", "--for", "bigqery"}, "did you mean 'bigquery'?"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.part);
    const Ended ended = run_tool(row.arguments);
    CHECK(ended.code == 2);
    CHECK(ended.output.empty());
    CHECK_MESSAGE(ended.errors.find(row.part) != std::string::npos, ended.errors);
  }
  const Ended some = run_tool({"query", "SELECT count(*) FROM files", trace, text, "--format", "csv"});
  CHECK(some.code == 2);
  CHECK(some.output == "count(*)\n1\n");
  CHECK(some.errors.find("readme.txt: this is not a trace") != std::string::npos);
}

TEST_CASE("a database of another version is refused") {
  const TemporaryDirectory folder;
  const std::string database = folder / "traces.db";
  CHECK(run_tool({"query", "SELECT 1", kSteps + "0.json", "--db", database}).code == 0);
  std::string bytes = read_whole_file(database);
  REQUIRE(bytes.size() > 100);
  bytes[63] = 9;  // the last byte of the user version, https://www.sqlite.org/fileformat.html
  const std::string changed = folder.write("changed.db", bytes);
  const Ended ended = run_tool({"query", "SELECT 1", "--db", changed});
  CHECK(ended.code == 2);
  CHECK(ended.errors.find("is a query database of version 9; this tool reads version 3") != std::string::npos);
}

TEST_CASE("schema and examples are printed without traces") {
  const Ended schema = run_tool({"query", "--schema"});
  CHECK(schema.code == 0);
  for (const char* part : {"events: ", "  duration_us", "segments: ", "traces: ", "at_stake_us"}) {
    CHECK(schema.output.find(part) != std::string::npos);
  }
  const Ended examples = run_tool({"query", "--examples"});
  CHECK(examples.code == 0);
  CHECK(examples.output.find("GROUP BY long_name ORDER BY total_us DESC LIMIT 20;") != std::string::npos);
}

}  // namespace doctor::query_cli_test
