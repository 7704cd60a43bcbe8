// Every page for a person at several widths of the terminal, and the commands on them pasted into a shell.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "built_paths.h"
#include "pseudo_terminal.h"
#include "run_tool.h"
#include "text/columns.h"
#include "text/text_page.h"

namespace doctor::page_width_test {
namespace {

const std::string kTraces = source_dir() + "/testdata/traces/";
const std::string kIdeal = kTraces + "cache_full_tf2.21.xplane.pb";

/// COLUMNS as a shell exports it.
class Columns {
 public:
  explicit Columns(std::size_t columns) { ::setenv("COLUMNS", std::to_string(columns).c_str(), 1); }
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;
  ~Columns() { ::unsetenv("COLUMNS"); }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string without_indent(const std::string& line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

/// Lines of code that the report on the trace may advise: they are pasted, so they stay whole.
std::set<std::string> advised_code(const std::string& trace) {
  std::set<std::string> code;
  const auto report = nlohmann::json::parse(run_tool({"--format", "json", trace}).output);
  for (const auto& finding : report["findings"]) {
    for (const auto& advice : finding["advice"]) {
      if (!advice["code"].is_string()) continue;
      for (const std::string& line : code_lines(advice["code"].get<std::string>(), kCodeWidth)) {
        code.insert(without_indent(line));
      }
    }
  }
  return code;
}

/// Lines of the page that are too long, but for commands, paths, and for code between fences or in `code`.
std::string too_long(const std::string& page, std::size_t width, const std::set<std::string>& code = {}) {
  std::string found;
  bool is_code = false;
  bool is_continued = false;  // a command that goes on below
  for (const std::string& line : lines_of(page)) {
    is_code = is_code != line.starts_with("```");
    std::string content = without_indent(line);
    if (content.starts_with("code ")) content = without_indent(content.substr(5));
    const bool is_pasted = is_code || is_continued || line.find(" --set ") != std::string::npos ||
                           line.find("tfdata-doctor ") != std::string::npos ||
                           line.find("https://") != std::string::npos || content.starts_with("example  ") ||
                           content.starts_with("first slower one  ") || code.count(content) > 0;
    is_continued = line.ends_with(" \\");
    if (!is_pasted && column_count(line) > width) found += line + "\n";
  }
  return found;
}

TEST_CASE("every page about traces fits the width of the terminal") {
  const std::vector<std::vector<std::string>> pages = {{},
                                                       {"-v"},
                                                       {"whatif"},
                                                       {"whatif", "--ideal", kIdeal},
                                                       {"whatif", "--plan", "--fix", "prefetch"},
                                                       {"checklist"},
                                                       {"show", "tree"},
                                                       {"show", "calls"},
                                                       {"show", "timeline"},
                                                       {"show", "autotune"},
                                                       {"show", "overview"},
                                                       {"show", "input"},
                                                       {"show", "hosts"},
                                                       {"show", "steps"},
                                                       {"show", "ops"},
                                                       {"show", "kernels"},
                                                       {"show", "memory"},
                                                       {"explain", "input-bound"},
                                                       {"query", "select * from iterators"}};
  for (const std::string trace : {"keras_image_directory_tf2.21.xprof.trace.json.gz", "seed_example1.xplane.pb",
                                  "cut_off_tf2.4.xplane.pb", "../field/gpu_multi_worker.xplane.pb.gz"}) {
    const std::set<std::string> code = advised_code(kTraces + trace);
    for (const std::size_t width : {60U, 80U, 100U, 132U}) {
      const Columns columns(width);
      for (std::vector<std::string> arguments : pages) {
        CAPTURE(trace);
        CAPTURE(width);
        std::string page;
        for (const std::string& argument : arguments) page += argument + " ";
        CAPTURE(page);
        arguments.push_back(kTraces + trace);
        const Ended ended = run_tool(arguments);
        CHECK(ended.code != 2);
        CHECK(!ended.output.empty());
        CHECK(too_long(ended.output, width, code).empty());
      }
    }
  }
}

TEST_CASE("pages about anything else fit, too") {
  const TemporaryDirectory folder;
  const std::string fleet = source_dir() + "/testdata/fleet/";
  const std::string base = kTraces + "guide_naive.xplane.pb";
  const std::string candidate = kTraces + "guide_prefetch.xplane.pb";
  const std::vector<std::vector<std::string>> pages = {{"rules"},
                                                       {"explain", "autotune-limited"},
                                                       {"explain", "compare"},
                                                       {"config", "show"},
                                                       {"fleet", fleet + "january.ndjson", fleet + "february.ndjson"},
                                                       {"fleet", fleet + "over_time.ndjson.gz"},
                                                       {"compare", base, "--", candidate},
                                                       {"compare", "-v", base, "--", candidate},
                                                       {"query", "--schema"}};
  for (const std::size_t width : {60U, 80U, 100U, 132U}) {
    const Columns columns(width);
    for (const std::vector<std::string>& arguments : pages) {
      CAPTURE(width);
      CAPTURE(arguments.front());
      const Ended ended = run_tool(arguments);
      CHECK(ended.code != 2);
      CHECK(!ended.output.empty());
      CHECK(too_long(ended.output, width).empty());
    }
  }
}

TEST_CASE("a terminal says its width itself; files and pipes get whole lines") {
  const std::string trace = kTraces + "keras_image_directory_tf2.21.xprof.trace.json.gz";
  const std::string whole = run_tool({"show", "ops", trace}).output;
  CHECK(!too_long(whole, 100).empty());
  const Columns misleading(132);
  PseudoTerminal terminal(72);
  Tool tool;
  tool.output_to = terminal.descriptor();
  CHECK(tool.run({"show", "ops", trace}).code == 0);
  std::string shown = terminal.hang_up();
  shown.erase(std::remove(shown.begin(), shown.end(), '\r'), shown.end());
  CHECK(!shown.empty());
  CHECK(too_long(shown, 72).empty());
}

TEST_CASE("a command on the page works as it is pasted, whatever the path holds") {
  const TemporaryDirectory folder;
  const std::string name = "my run's \"dir\" with a name that is longer than any line of a report can be and $HOME.pb";
  std::filesystem::copy_file(kTraces + "guide_naive.xplane.pb", folder / name);
  for (const std::size_t width : {60U, 0U}) {
    const Columns columns(width);
    const std::string page = run_tool({folder / name}).output;
    const std::vector<std::string> lines = lines_of(page);
    const auto more = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("tfdata-doctor whatif ") != std::string::npos;
    });
    REQUIRE(more != lines.end());
    std::string arguments = more->substr(more->find(" whatif "));
    if (arguments.ends_with("\\")) arguments += "\n" + *std::next(more);
    const std::string output = folder / "pasted";
    const std::string command = std::string("'") + tool_path() + "'" + arguments + " -o '" + output + "'";
    CAPTURE(command);
    CHECK(std::system(command.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe)
    CHECK(read_whole_file(output).find("steps/s now") != std::string::npos);
  }
}

}  // namespace
}  // namespace doctor::page_width_test
