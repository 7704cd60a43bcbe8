// Several traces of one job: one view of them, whatever their order and however often one is named.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "built_paths.h"
#include "run_tool.h"
#include "unwrapped.h"

namespace doctor::several_inputs_cli_test {
namespace {

namespace fs = std::filesystem;

const std::string kWindows = source_dir() + "/testdata/compare/slower-decode/base/";
const std::string kSteps = source_dir() + "/testdata/traces/tf1_steps/";

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find("expected") == std::string::npos && entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string output_of(std::vector<std::string> command, const std::vector<std::string>& files) {
  command.insert(command.end(), files.begin(), files.end());
  const Ended ended = run_tool(command);
  CHECK_MESSAGE(!ended.output.empty(), ended.errors);
  return ended.output;
}

TEST_CASE("the order of files and copies of them change no output") {
  const TemporaryDirectory folder;
  for (const std::string& job : {kWindows, kSteps}) {
    const std::vector<std::string> files = files_in(job);
    REQUIRE(files.size() > 1);
    std::vector<std::string> again(files.rbegin(), files.rend());
    // Of several names the shortest is kept.
    const std::string copy = folder / (std::string(200, 'x') + "/" + fs::path(files.front()).filename().string());
    fs::create_directories(fs::path(copy).parent_path());
    fs::copy_file(files.front(), copy);
    again.push_back(copy);
    again.push_back(files.back());
    const std::vector<std::vector<std::string>> commands = {
        {"diagnose", "--format", "json"},      {"show", "ops", "--format", "csv"},
        {"show", "steps", "--format", "json"}, {"show", "overview"},
        {"convert", "--format", "ndjson"},     {"query", "SELECT * FROM events ORDER BY 1, 2, 3, 4, 5, 6"}};
    for (const std::vector<std::string>& command : commands) {
      CAPTURE(command.front());
      CHECK(output_of(command, files) == output_of(command, again));
    }
  }
}

TEST_CASE("windows of one host are one view") {
  const std::string report = unwrapped(output_of({"diagnose", "-v"}, files_in(kWindows)));
  CHECK(report.find("the 5 windows wait alike") != std::string::npos);
  CHECK(report.find(" hosts wait") == std::string::npos);
  CHECK(output_of({"show", "overview"}, files_in(kWindows)).find("5 windows of one host") != std::string::npos);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kTraces = source_dir() + "/testdata/traces/";

// Was an error, with a wrong cause, though a Chrome trace lay there.
TEST_CASE("where the profiler left an empty XSpace the Chrome trace beside it is read, and why is told") {
  const TemporaryDirectory folder;
  const std::string empty = folder.write("vm.xplane.pb", "");
  const Ended alone = run_tool({"diagnose", empty});
  CHECK(alone.code == 2);
  CHECK(contains(alone.errors, "vm.xplane.pb: the file is empty; the profiler leaves it so where it would have more"));
  fs::copy_file(kTraces + "sequential_map_tf2.4.trace.json.gz", folder / "vm.trace.json.gz");
  for (const std::string& path : {empty, folder.path()}) {
    CAPTURE(path);
    const Ended ended = run_tool({"diagnose", path});
    CHECK(ended.code == 1);
    CHECK(ended.output.starts_with("INPUT-BOUND"));
    CHECK(contains(ended.output, "more than 2 GB"));
    CHECK(contains(ended.output, "python_tracer_level=0"));
    const Ended row = run_tool({"batch", path});
    CHECK(row.code == 1);
    CHECK(contains(row.output, R"("format":"chrome_json")"));
    CHECK(contains(row.output, R"("verdict":"input_bound")"));
    CHECK(contains(row.output, R"("complete":false)"));
    CHECK_FALSE(contains(row.output, "e3b0c44298fc1c14"));  // the SHA-256 of nothing
  }
}

// Eight of forty steps were there, and "your input is fine".
TEST_CASE("a Chrome trace that the profiler cut is no evidence, and the XSpace beside it is read instead") {
  const TemporaryDirectory folder;
  const std::string cut = folder / "vm.trace.json.gz";
  fs::copy_file(kTraces + "healthy_tf2.4.trace.json.gz", cut);
  const EnvironmentVariable most("TF_PROFILER_TRACE_VIEWER_MAX_EVENTS", "3180");
  const Ended alone = run_tool({"diagnose", cut, "--max-input-share", "0.9"});
  CHECK(alone.code == 3);
  CHECK(alone.output.starts_with("INCONCLUSIVE"));
  CHECK(contains(unwrapped(alone.output), "the profiler wrote only the first 3,180 events"));
  folder.write("vm.xplane.pb", "no XSpace");
  CHECK(run_tool({"diagnose", cut}).code == 3);
  folder.write("vm.xplane.pb", read_whole_file(kTraces + "seed_example1.xplane.pb"));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"diagnose", cut}, {"diagnose", cut, "--format", "json"}, {"batch", cut}}) {
    const Ended ended = run_tool(command);
    CHECK(ended.code == 1);
    CHECK((contains(ended.output, "INPUT-BOUND") || contains(ended.output, "input_bound")));
    CHECK(contains(unwrapped(ended.output), "so it was read") == (command.front() == "diagnose"));
  }
}

}  // namespace

}  // namespace doctor::several_inputs_cli_test
