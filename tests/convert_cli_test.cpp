// `tfdata-doctor convert` from outside: what it writes where, and how it ends.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_tool.h"
#include "synthetic_trace.h"

namespace doctor::convert_cli_test {
namespace {

using Json = nlohmann::json;

std::string small_trace(int events = 3) {
  SyntheticTrace trace;
  for (int index = 0; index < events; ++index) trace.iterator("main", "Iterator::Root", 1, 0, 10.0 * index, 5);
  return trace.to_xspace();
}

std::vector<std::string> names_in(const TemporaryDirectory& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_gzip(const std::string& bytes) {
  return bytes.starts_with("\x1f\x8b");
}

}  // namespace

TEST_CASE("the name of the output tells its format, --format overrules it") {
  struct Row {
    std::string name;
    std::vector<std::string> options;
    const char* start;
  };
  const std::vector<Row> rows = {
      {"a.json", {}, "{\"displayTimeUnit\""},
      {"a.trace.json", {}, "{\"displayTimeUnit\""},
      {"a.ndjson", {}, "{\"file\""},
      {"a.csv", {}, "file,host,"},
      {"a.json", {"--format", "csv"}, "file,host,"},
      {"a", {"--format", "ndjson"}, "{\"file\""},
  };
  const TemporaryDirectory input;
  const std::string trace = input.write("host.xplane.pb", small_trace());
  for (const Row& row : rows) {
    for (const char* ending : {"", ".gz"}) {
      CAPTURE(row.name);
      CAPTURE(ending);
      const TemporaryDirectory folder;
      std::vector<std::string> arguments = {"convert", trace, "-o", folder / (row.name + ending)};
      arguments.insert(arguments.end(), row.options.begin(), row.options.end());
      const Ended ended = run_tool(arguments);
      CHECK(ended.code == 0);
      CHECK(ended.output.empty());
      CHECK(ended.errors.empty());
      CHECK(names_in(folder) == std::vector<std::string>{row.name + ending});
      const std::string bytes = read_whole_file(folder / (row.name + ending));
      CHECK(is_gzip(bytes) == !std::string(ending).empty());
      if (!is_gzip(bytes)) CHECK(bytes.starts_with(row.start));
    }
  }
}

TEST_CASE("--annotate adds a process to a Chrome trace, and no other document can have it") {
  const TemporaryDirectory folder;
  const std::string trace = folder.write("host.xplane.pb", small_trace(20));
  const Ended ended = run_tool({"convert", "--annotate", trace});
  CHECK(ended.code == 0);
  CHECK(ended.errors.empty());
  CHECK(ended.output.find("made by tfdata-doctor, not recorded") != std::string::npos);
  CHECK(run_tool({"convert", trace}).output.find("not recorded") == std::string::npos);
  const Ended table = run_tool({"convert", "--annotate", trace, "--format", "csv"});
  CHECK(table.code == 2);
  CHECK(table.errors.find("only a Chrome trace has tracks to add") != std::string::npos);
  const Ended piped = run_tool({"convert", "--annotate", "-"});
  CHECK(piped.code == 2);
  CHECK(piped.errors.find("name the file instead") != std::string::npos);
}

TEST_CASE("standard output gets a Chrome trace unless another format is named") {
  const TemporaryDirectory folder;
  const std::string trace = folder.write("host.xplane.pb", small_trace());
  for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"-o", "-"}}) {
    std::vector<std::string> arguments = {"convert", trace};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Ended ended = run_tool(arguments);
    CHECK(ended.code == 0);
    CHECK(Json::parse(ended.output)["traceEvents"].size() > 3);
  }
  CHECK(run_tool({"convert", "--format", "csv", trace}).output.starts_with("file,host,"));
  Tool tool;
  tool.input = small_trace();
  const Ended piped = tool.run({"convert", "-", trace, "--format", "ndjson"});
  CHECK(piped.code == 0);
  CHECK(std::count(piped.output.begin(), piped.output.end(), '\n') == 6);
}

TEST_CASE("convert says what is wrong and ends with 2") {
  const TemporaryDirectory folder;
  const std::string trace = folder.write("host.trace.json.gz", small_trace());
  struct Row {
    std::vector<std::string> arguments;
    const char* part;
  };
  const std::vector<Row> rows = {
      {{"convert"}, "no trace given"},
      {{"convert", trace, "-o", folder / "a.txt"}, "the name does not say which format"},
      {{"convert", trace, "--format", "chrom"}, "did you mean 'chrome'?"},
      {{"convert", trace, "-o", trace}, "is a trace that is read"},
      {{"convert", folder / "missing.pb", "-o", folder / "a.json"}, "no such file"},
      {{"convert", trace, "-o", folder / "none" + "/a.json"}, "cannot be written"},
      {{"convert", trace, "-o", folder / "a.json", "--color", "never"}, "unknown option '--color'"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.part);
    const Ended ended = run_tool(row.arguments);
    CHECK(ended.code == 2);
    CHECK(ended.output.empty());
    CHECK(ended.errors.find(row.part) != std::string::npos);
  }
  CHECK(names_in(folder) == std::vector<std::string>{"host.trace.json.gz"});
}

TEST_CASE("what cannot be read beside other files is told, the others are converted") {
  const TemporaryDirectory folder;
  const std::string trace = folder.write("host.xplane.pb", small_trace());
  const std::string other = folder.write("readme.txt", "no trace");
  const std::string output = folder / "a.ndjson";
  const Ended ended = run_tool({"convert", trace, other, "-o", output});
  CHECK(ended.code == 2);
  CHECK(ended.errors.find("readme.txt: this is not a trace") != std::string::npos);
  const std::string written = read_whole_file(output);
  CHECK(std::count(written.begin(), written.end(), '\n') == 3);
}

TEST_CASE("events that are left out are counted on standard error") {
  const TemporaryDirectory folder;
  const std::string trace = folder.write("host.trace.json", R"({"traceEvents":[)"
                                                            R"({"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"a"},)"
                                                            R"({"ph":"C","pid":1,"ts":1,"name":"b"}]})");
  const Ended told = run_tool({"convert", trace, "--format", "ndjson"});
  CHECK(told.code == 0);
  CHECK(told.errors == "tfdata-doctor: " + trace + ": left out or lost: 1 counter_events\n");
  const Ended quiet = run_tool({"convert", trace, "--format", "ndjson", "-q"});
  CHECK(quiet.errors.empty());
  CHECK(quiet.output == told.output);
}

TEST_CASE("convert takes the options of reading") {
  const TemporaryDirectory folder;
  const std::string trace = folder.write("host.xplane.pb", small_trace(20'000));
  const Ended timed = run_tool({"convert", trace, "-o", folder / "a.json", "--timings", "--threads", "2"});
  CHECK(timed.code == 0);
  CHECK(timed.errors.find("read and write") != std::string::npos);
  CHECK(timed.errors.find("peak memory") != std::string::npos);
  CHECK(run_tool({"convert", trace, "-o", folder / "b.json", "--max-memory", "nothing"}).code == 2);
  Tool tool;
  tool.has_reader = false;
  const Ended gone = tool.run({"convert", trace});
  CHECK(gone.code == 2);
  CHECK(gone.errors.empty());
  Tool full;
  full.output_path = "/dev/full";
  CHECK(full.run({"convert", trace}).code == 2);
}

}  // namespace doctor::convert_cli_test
