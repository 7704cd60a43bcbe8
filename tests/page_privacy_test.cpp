// No document that goes out names a folder of the machine.

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "command_line/command_table.h"
#include "report/html/html_page.h"
#include "report/html/picture.h"
#include "report/page.h"
#include "run_tool.h"
#include "temporary_directory.h"

namespace doctor::page_privacy_test {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kTelling = "nobodys_business";

/// The places of a document that name it, but for the path of a trace as the user gave it.
std::vector<std::string> places_of(const Json& document) {
  std::vector<std::string> places;
  const Json flat = document.flatten();  // items() refers to it
  for (const auto& [place, value] : flat.items()) {
    const bool tells = value.is_string() && value.get<std::string>().find(kTelling) != std::string::npos;
    if (tells && !place.ends_with("/path")) places.push_back(place);
  }
  return places;
}

/// The words of each command that prints documents about traces.
std::vector<std::vector<std::string>> commands_about_traces() {
  std::vector<std::vector<std::string>> commands = {{"diagnose"}, {"whatif"}};
  for (const std::string_view page : page_names()) commands.push_back({"show", std::string(page)});
  return commands;
}

TEST_CASE("no folder is in a page, not in its sentences either") {
  OrderedJson report = {
      {"verdict", {{"status", "inconclusive"}, {"summary", "/home/someone/logs/host.pb: cut off at byte 7"}}}};
  report["trace"] = {{"events", 0}, {"iterator_events", 0}};
  OrderedJson file = {{"path", "/home/someone/logs/host.pb"}, {"format", "xspace"}, {"bytes", 7}};
  report["trace"]["files"] = OrderedJson::array({file});
  report["trace"]["loss"] = {{"complete", false}};
  report["trace"]["loss_notes"] = OrderedJson::array({"/home/someone/logs/host.pb: x"});
  const std::string page = render_html({{"report", report}}, "one");
  CHECK(page.find("someone") == std::string::npos);
  CHECK(page.find("host.pb: cut off at byte 7") != std::string::npos);
}

TEST_CASE("a page names the configuration file without its folder") {
  OrderedJson report = {{"settings_note", "/home/someone/.tfdata-doctor.toml: fail-on never, 1/2"}};
  bound_for_page(report, 1);
  CHECK(report["settings_note"] == ".tfdata-doctor.toml: fail-on never, 1/2");
}

TEST_CASE("no document names the folder of a trace") {
  const TemporaryDirectory folder;
  const std::string source = source_dir() + "/testdata/traces/";
  std::filesystem::create_directories(folder / std::string(kTelling));
  // One that names its machine, one that does not, one with losses.
  for (const char* const trace : {"guide_naive.xplane.pb", "healthy_tf2.4.trace.json.gz", "cut_off_tf2.4.xplane.pb"}) {
    const std::string path = folder / (std::string(kTelling) + "/" + trace);
    std::filesystem::copy_file(source + trace, path);
    for (const std::vector<std::string>& words : commands_about_traces()) {
      const CommandEntry& command = *find_command(words.front());
      for (const OutputFormat format : formats_of(command, words.back())) {
        if (format == OutputFormat::text) continue;  // names the trace in commands to go on with
        std::vector<std::string> line = words;
        line.insert(line.end(), {path, "--format", std::string(to_word(format))});
        CAPTURE(line);
        const Ended ended = run_tool(line);
        CHECK(ended.code != 2);
        if (format == OutputFormat::json) {
          CHECK(places_of(Json::parse(ended.output)) == std::vector<std::string>{});
        } else {
          CHECK(ended.output.find(kTelling) == std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("no page of a comparison or a fleet names it") {
  const TemporaryDirectory folder;
  const std::string inner = std::string(kTelling) + "/runs/slow";
  std::filesystem::create_directories(folder / inner);
  const std::string path = folder / (inner + "/host.xplane.pb");
  std::filesystem::copy_file(source_dir() + "/testdata/traces/guide_naive.xplane.pb", path);
  CHECK(run_tool({"compare", path, "--", path, "--format", "html"}).output.find(kTelling) == std::string::npos);
  const std::string rows = folder / "rows.ndjson";
  run_tool({"batch", path, "-o", rows});
  CHECK(read_whole_file(rows).find(kTelling) != std::string::npos);
  // Traces of a fleet are mostly files of one name: their last two folders tell them apart.
  const std::string fleet = run_tool({"fleet", rows, "--format", "html"}).output;
  CHECK(fleet.find(kTelling) == std::string::npos);
  CHECK(fleet.find("\u2026/runs/slow/host.xplane.pb") != std::string::npos);
}

}  // namespace
}  // namespace doctor::page_privacy_test
