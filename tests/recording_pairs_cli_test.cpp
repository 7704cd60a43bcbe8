// Two recordings of one process are one host, whatever command reads them.

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_tool.h"
#include "written_recording_pair.h"

namespace doctor::recording_pairs_cli_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using recording_pair::Files;

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    if (end > start) lines.push_back(Json::parse(text.substr(start, end - start)));
    start = end + 1;
  }
  return lines;
}

TEST_CASE("batch writes one row for the two, named after the one with tf.data") {
  const Files files{recording_pair::RecordedJob{}};
  const std::string folder = fs::path(files.paths[1]).parent_path();
  for (const std::vector<std::string>& named :
       {std::vector<std::string>{folder}, files.paths, {files.paths[0]}, {files.paths[1]}}) {
    CAPTURE(named.size());
    std::vector<std::string> command = {"batch"};
    command.insert(command.end(), named.begin(), named.end());
    const Ended ended = run_tool(command);
    const std::vector<Json> rows = lines_of(ended.output);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]["path"] == files.paths[1]);
    CHECK(rows[0]["verdict"] == "input_bound");
  }
}

TEST_CASE("in a folder with many files batch goes by the names") {
  const Files files{recording_pair::RecordedJob{}};
  for (int index = 0; index < 70; ++index) files.directory.write("note" + std::to_string(index) + ".txt", "note");
  CHECK(lines_of(run_tool({"batch", files.paths[0], files.paths[1]}).output).size() == 1);
}

TEST_CASE("a shard of a batch writes the row if its file is in the shard, as of any trace") {
  const Files files{recording_pair::RecordedJob{}};
  const std::string folder = fs::path(files.paths[1]).parent_path();
  std::size_t rows = 0;
  for (const char* shard : {"1/2", "2/2"})
    rows += lines_of(run_tool({"batch", folder, "--shard", shard}).output).size();
  CHECK(rows == 1);
}

TEST_CASE("a batch that goes on does not repeat the row") {
  const Files files{recording_pair::RecordedJob{}};
  const TemporaryDirectory out;
  const std::string folder = fs::path(files.paths[1]).parent_path();
  run_tool({"batch", folder, "-o", out / "rows.ndjson"});
  run_tool({"batch", folder, "-o", out / "rows.ndjson", "--resume"});
  CHECK(lines_of(read_whole_file(out / "rows.ndjson")).size() == 1);
}

TEST_CASE("converted events of both are on one clock") {
  const Files files{recording_pair::RecordedJob{}};
  const TemporaryDirectory out;
  const Ended ended = run_tool({"convert", files.paths[0], files.paths[1], "-o", out / "all.ndjson"});
  CHECK(ended.code == 0);
  double of_input = 0;
  double of_rest = 0;
  for (const Json& event : lines_of(read_whole_file(out / "all.ndjson"))) {
    if (event["name"] == "IteratorGetNextOp::DoCompute" && of_input == 0) of_input = event["start_us"];
    if (event["name"] == "PjitFunction(step)" && of_rest == 0) of_rest = event["start_us"];
  }
  CHECK(of_rest - of_input == doctest::Approx(1011).epsilon(0.01));  // from the call to the dispatch of the first step
}

TEST_CASE("a query sees one trace with one host, and its events on one clock") {
  const Files files{recording_pair::RecordedJob{}};
  const auto ask = [&](const std::string& sql) {
    return run_tool({"query", sql, files.paths[0], files.paths[1], "--format", "json"}).output;
  };
  const Json traces = Json::parse(ask("SELECT count(*) AS n, max(verdict) AS verdict FROM traces"));
  CHECK(traces["rows"][0]["n"] == 1);
  CHECK(traces["rows"][0]["verdict"] == "input_bound");
  CHECK(Json::parse(ask("SELECT count(*) AS n FROM files"))["rows"][0]["n"] == 2);
  const Json shift =
      Json::parse(ask("SELECT (SELECT min(start_us) FROM events WHERE name LIKE 'Pjit%') - min(start_us) AS us FROM "
                      "events WHERE name LIKE "
                      "'IteratorGetNextOp%'"));
  CHECK(shift["rows"][0]["us"].get<double>() == doctest::Approx(1011).epsilon(0.01));
}

TEST_CASE("a baseline gets one recording, and a comparison compares one with one") {
  const Files files{recording_pair::RecordedJob{}};
  const TemporaryDirectory out;
  const std::string baseline = out / "base.json";
  CHECK(run_tool({"baseline", "add", baseline, files.paths[0], files.paths[1]}).code == 0);
  const Json stored = Json::parse(run_tool({"baseline", "show", baseline, "--format", "json"}).output);
  CHECK(stored["runs"].size() == 1);
  const Ended compared = run_tool({"compare", files.paths[0], files.paths[1], "--", files.paths[1], files.paths[0]});
  CHECK(compared.output.find("1 base with 1 candidate recordings") != std::string::npos);
}

TEST_CASE("pages show one host with the steps and waits of both") {
  const Files files{recording_pair::RecordedJob{}};
  for (const char* page : {"overview", "input", "hosts", "steps", "ops", "calls", "tree", "timeline", "memory"}) {
    CAPTURE(page);
    const Ended ended = run_tool({"show", page, files.paths[0], files.paths[1]});
    CHECK(ended.code == 0);
    CHECK(ended.errors.empty());
  }
  const Json hosts =
      Json::parse(run_tool({"show", "hosts", files.paths[0], files.paths[1], "--format", "json"}).output);
  CHECK(hosts["rows"].size() == 1);
}

}  // namespace
}  // namespace doctor::recording_pairs_cli_test
