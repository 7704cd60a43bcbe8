// Several traces of one job: one view of them, whatever their order and however often one is named.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "built_paths.h"
#include "run_tool.h"

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
  const std::string report = output_of({"diagnose"}, files_in(kWindows));
  CHECK(report.find("the 5 windows wait alike") != std::string::npos);
  CHECK(report.find("hosts") == std::string::npos);
  CHECK(output_of({"show", "overview"}, files_in(kWindows)).find("5 windows of one host") != std::string::npos);
}

}  // namespace

}  // namespace doctor::several_inputs_cli_test
