// The order in which the folders may include each other, as lib/README.md draws it; that no files include each other in
// a circle, and that no two have one name. Checked over the tree.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "built_paths.h"

namespace doctor::include_order_test {
namespace {

namespace fs = std::filesystem;

struct Pair {
  std::string_view path;
  std::string_view include;
};

/// The folders of lib/, each of which may include itself and those before it.
constexpr std::array<std::string_view, 13> kStages = {"base",    "text",    "io",    "trace",    "profile",
                                                      "tree",    "measure", "model", "diagnose", "words",
                                                      "compare", "report",  "fleet"};

/// Position in kStages of the first folder of `path`; nothing if it is not a stage.
std::optional<std::size_t> stage_of(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto* const found = std::find(kStages.begin(), kStages.end(), path.substr(0, slash));
  if (found == kStages.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kStages.begin());
}

/// Whether the file at `path` (relative to the repository) may contain `#include "<include>"`. Includes of lib/ are
/// spelled from lib/, so an include that names no stage is refused unless it is one of the exceptions below.
bool may_include(std::string_view path, std::string_view include) {
  // A path that climbs could reach anything.
  if (include.find("..") != std::string_view::npos) return false;
  const auto included_stage = stage_of(include);

  if (path.starts_with("rules/")) {
    return include.starts_with("base/") || include.starts_with("text/") || include.starts_with("measure/") ||
           include.starts_with("model/") || include.starts_with("diagnose/") || include.starts_with("words/");
  }
  if (path.starts_with("apps/")) {
    // Without a folder it is pipeline.h or a header of apps/ itself.
    constexpr std::array<std::string_view, 7> kFolders = {"capture/", "convert/", "config/",      "query/",
                                                          "batch/",   "process/", "command_line/"};
    const bool is_known = std::any_of(kFolders.begin(), kFolders.end(),
                                      [&](std::string_view folder) { return include.starts_with(folder); });
    return included_stage || is_known || include.find('/') == std::string_view::npos;
  }
  for (const std::string_view folder : {"convert/", "capture/"}) {
    if (!path.starts_with("lib/" + std::string(folder))) continue;
    // Beside the stages that follow `trace`.
    return (included_stage && *included_stage <= *stage_of("trace/")) || include.starts_with(folder);
  }
  if (path.starts_with("lib/config/")) {
    // What a file says becomes values that a diagnosis takes; how anything is printed is none of its business.
    return (included_stage && *included_stage <= *stage_of("compare/")) || include.starts_with("config/");
  }
  if (path.starts_with("lib/query/")) {
    // Loads what all others tell of a trace.
    return included_stage || include.starts_with("convert/") || include.starts_with("query/") ||
           include == "pipeline.h";
  }
  if (path == "lib/pipeline.h" || path == "lib/pipeline.cpp") return included_stage || include == "pipeline.h";
  if (path.starts_with("lib/")) {
    const auto stage = stage_of(path.substr(std::string_view("lib/").size()));
    return stage && included_stage && *included_stage <= *stage;
  }
  return false;
}

/// The file named by a line `#include "file"`; nothing for any other line.
std::optional<std::string> quoted_include(std::string_view line) {
  const auto skip_blanks = [&line] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  const auto skip = [&line](std::string_view word) {
    if (!line.starts_with(word)) return false;
    line.remove_prefix(word.size());
    return true;
  };
  skip_blanks();
  if (!skip("#")) return std::nullopt;
  skip_blanks();
  if (!skip("include")) return std::nullopt;
  skip_blanks();
  if (!skip("\"")) return std::nullopt;
  return std::string(line.substr(0, line.find('"')));
}

std::vector<fs::path> sources_below(const fs::path& folder) {
  std::vector<fs::path> sources;
  if (!fs::is_directory(folder)) return sources;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto extension = entry.path().extension();
    if (extension == ".h" || extension == ".cpp") sources.push_back(entry.path());
  }
  std::sort(sources.begin(), sources.end());
  return sources;
}

/// Units (a header and its source, by their path without extension) with the units that they include.
using UnitGraph = std::map<std::string, std::set<std::string>>;

std::string unit_of(const std::string& path) {
  return path.substr(0, path.rfind('.'));
}

/// The units that one can reach from `start`.
std::set<std::string> reachable(const UnitGraph& graph, const std::string& start) {
  std::set<std::string> seen;
  std::vector<std::string> pending = {start};
  while (!pending.empty()) {
    const auto unit = graph.find(pending.back());
    pending.pop_back();
    if (unit == graph.end()) continue;
    for (const std::string& next : unit->second) {
      if (seen.insert(next).second) pending.push_back(next);
    }
  }
  return seen;
}

/// Groups of units that include each other, each sorted.
std::set<std::set<std::string>> circles_in(const UnitGraph& graph) {
  std::map<std::string, std::set<std::string>> reach;
  for (const auto& [unit, includes] : graph) reach[unit] = reachable(graph, unit);
  std::set<std::set<std::string>> circles;
  for (const auto& [unit, others] : reach) {
    std::set<std::string> circle;
    for (const std::string& other : others) {
      const auto back = reach.find(other);
      if (back != reach.end() && back->second.count(unit) > 0) circle.insert(other);
    }
    if (circle.size() > 1) circles.insert(circle);
  }
  return circles;
}

/// Names without extension that files of several folders have, with these folders.
std::map<std::string, std::set<std::string>> shared_names(const std::vector<std::string>& paths) {
  std::map<std::string, std::set<std::string>> folders;
  for (const std::string& path : paths) {
    const std::string unit = unit_of(path);
    const std::size_t slash = unit.rfind('/');
    folders[unit.substr(slash + 1)].insert(unit.substr(0, slash));
  }
  for (auto name = folders.begin(); name != folders.end();) {
    name = name->second.size() > 1 ? std::next(name) : folders.erase(name);
  }
  return folders;
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

TEST_CASE("includes that follow the order of the stages are accepted") {
  const std::vector<Pair> pairs = {
      {"lib/base/result.cpp", "base/result.h"},
      {"lib/text/numbers.h", "base/time.h"},
      {"lib/io/gzip.cpp", "base/result.h"},
      {"rules/slow-source.cpp", "text/numbers.h"},
      {"lib/trace/format.h", "io/byte_source.h"},
      {"lib/trace/xspace/xspace.cpp", "trace/wire.h"},
      {"lib/profile/device_profile.h", "trace/event_reader.h"},
      {"lib/tree/iterator_forest.h", "trace/trace.h"},
      {"lib/measure/measurements.h", "tree/iterator_forest.h"},
      {"lib/measure/measure.cpp", "base/time.h"},
      {"lib/diagnose/rule.h", "measure/measurements.h"},
      {"lib/compare/comparison.h", "diagnose/threshold.h"},
      {"lib/report/comparison_text.cpp", "compare/comparison.h"},
      {"lib/report/text.cpp", "diagnose/rule.h"},
      {"lib/report/text.cpp", "trace/trace.h"},
      {"lib/convert/convert.cpp", "trace/format.h"},
      {"lib/convert/convert.cpp", "io/byte_source.h"},
      {"lib/convert/convert.cpp", "convert/event_writer.h"},
      {"lib/convert/csv_writer.cpp", "text/escape.h"},
      {"apps/run_convert.cpp", "convert/convert.h"},
      {"lib/query/load_events.cpp", "convert/event_columns.h"},
      {"lib/query/load_traces.cpp", "pipeline.h"},
      {"apps/run_query.cpp", "query/user_query.h"},
      {"lib/config/config.h", "diagnose/catalog.h"},
      {"lib/config/config.cpp", "config/config.h"},
      {"apps/command_line/setting_sources.cpp", "config/config.h"},
      {"lib/pipeline.cpp", "pipeline.h"},
      {"lib/pipeline.cpp", "report/report.h"},
      {"lib/pipeline.h", "diagnose/rule.h"},
      {"rules/slow-source.cpp", "diagnose/rule.h"},
      {"rules/slow-source.cpp", "measure/measurements.h"},
      {"rules/slow-source.cpp", "base/time.h"},
      {"apps/tfdata_doctor.cpp", "pipeline.h"},
      {"apps/tfdata_doctor.cpp", "command_line/request.h"},
      {"apps/tfdata_doctor.cpp", "report/report.h"},
  };
  for (const Pair& pair : pairs) {
    CAPTURE(pair.path);
    CAPTURE(pair.include);
    CHECK(may_include(pair.path, pair.include));
  }
}

TEST_CASE("includes against the order of the stages are refused") {
  const std::vector<Pair> pairs = {
      {"lib/base/result.h", "io/byte_source.h"},
      {"lib/base/result.h", "text/numbers.h"},
      {"lib/text/table.h", "io/byte_source.h"},
      {"lib/text/table.h", "trace/trace.h"},
      {"lib/io/byte_source.h", "trace/trace.h"},
      {"lib/trace/trace.h", "tree/iterator_forest.h"},
      {"lib/trace/trace.h", "profile/device_profile.h"},
      {"lib/profile/device_profile.h", "tree/iterator_forest.h"},
      {"lib/tree/iterator_forest.h", "measure/measurements.h"},
      {"lib/measure/measure.cpp", "diagnose/rule.h"},
      {"lib/measure/measure.cpp", "report/report.h"},
      {"lib/diagnose/rule.h", "report/report.h"},
      {"lib/diagnose/rule.h", "compare/comparison.h"},
      {"lib/compare/comparison.h", "report/report.h"},
      {"lib/diagnose/rule.h", "pipeline.h"},
      {"lib/report/text.cpp", "pipeline.h"},
      {"lib/diagnose/diagnose.cpp", "rules/slow-source.h"},
      {"lib/pipeline.cpp", "rules/slow-source.h"},
      {"lib/pipeline.cpp", "apps/command_line/request.h"},
      {"lib/report/text.cpp", "apps/command_line/request.h"},
      {"lib/trace/xspace/xspace.cpp", "../tree/iterator_forest.h"},
      {"lib/trace/xspace/xspace.cpp", "trace/../tree/iterator_forest.h"},
      {"lib/trace/xspace/xspace.cpp", "format.h"},
      {"lib/trace/xspace/xspace.cpp", "fmt/core.h"},
      {"lib/convert/convert.cpp", "tree/iterator_forest.h"},
      {"lib/convert/convert.cpp", "report/report.h"},
      {"lib/convert/convert.cpp", "pipeline.h"},
      {"lib/pipeline.cpp", "convert/convert.h"},
      {"lib/pipeline.cpp", "query/tables.h"},
      {"lib/query/tables.cpp", "config/config.h"},
      {"lib/report/text.cpp", "query/tables.h"},
      {"lib/config/config.cpp", "report/report.h"},
      {"lib/config/config.cpp", "pipeline.h"},
      {"lib/diagnose/diagnose.cpp", "config/config.h"},
      {"lib/report/text.cpp", "config/config.h"},
      {"lib/report/text.cpp", "convert/convert.h"},
      {"rules/slow-source.cpp", "convert/convert.h"},
      {"lib/elsewhere/file.cpp", "base/result.h"},
      {"lib/stray.cpp", "base/result.h"},
      {"rules/slow-source.cpp", "trace/trace.h"},
      {"rules/slow-source.cpp", "tree/iterator_forest.h"},
      {"rules/slow-source.cpp", "profile/device_profile.h"},
      {"rules/slow-source.cpp", "io/byte_source.h"},
      {"rules/slow-source.cpp", "report/report.h"},
      {"rules/slow-source.cpp", "pipeline.h"},
      {"rules/slow-source.cpp", "slow-map.h"},
      {"apps/tfdata_doctor.cpp", "rules/slow-source.h"},
      {"apps/tfdata_doctor.cpp", "../rules/slow-source.h"},
  };
  for (const Pair& pair : pairs) {
    CAPTURE(pair.path);
    CAPTURE(pair.include);
    CHECK_FALSE(may_include(pair.path, pair.include));
  }
}

TEST_CASE("an include is found however it is spaced") {
  CHECK(quoted_include("#include \"base/time.h\"") == "base/time.h");
  CHECK(quoted_include("  #  include\t\"base/time.h\"  // why") == "base/time.h");
  CHECK(quoted_include("#include\"base/time.h\"") == "base/time.h");
  CHECK_FALSE(quoted_include("#include <vector>"));
  CHECK_FALSE(quoted_include("// #include \"base/time.h\""));
  CHECK_FALSE(quoted_include(""));
}

TEST_CASE("no source file includes against the order of the stages") {
  const fs::path root = source_dir();
  std::size_t includes = 0;
  for (const char* folder : {"lib", "rules", "apps"}) {
    for (const auto& source : sources_below(root / folder)) {
      const std::string path = fs::relative(source, root).generic_string();
      std::ifstream stream(source);
      std::string line;
      for (int number = 1; std::getline(stream, line); ++number) {
        const auto include = quoted_include(line);
        if (!include) continue;
        ++includes;
        CHECK_MESSAGE(may_include(path, *include), path << ":" << number << " must not include " << *include);
      }
    }
  }
  // Nothing found would mean that the walk looked in the wrong place.
  CHECK(includes > 0);
}

TEST_CASE("files that include each other are a circle, over however many files") {
  const UnitGraph graph = {{"lib/a/one", {"lib/a/one", "lib/a/two"}},  // its own header is none
                           {"lib/a/two", {"lib/a/three"}},
                           {"lib/a/three", {"lib/a/one", "lib/a/four"}},
                           {"lib/a/four", {"lib/a/five"}},
                           {"apps/x", {"apps/y", "lib/a/one"}},
                           {"apps/y", {"apps/x"}}};
  using Circle = std::set<std::string>;
  CHECK(circles_in(graph) == std::set<Circle>{{"apps/x", "apps/y"}, {"lib/a/one", "lib/a/two", "lib/a/three"}});
  CHECK(circles_in({{"lib/a/one", {"lib/a/one", "lib/a/two"}}, {"lib/a/two", {}}}).empty());
}

TEST_CASE("one name in two folders is found, whatever its extension") {
  const auto names = shared_names({"lib/a/settings.h", "lib/a/settings.cpp", "apps/settings.cpp", "apps/b/other.h"});
  REQUIRE(names.size() == 1);
  CHECK(joined(names.at("settings")) == "apps, lib/a");
}

TEST_CASE("no files include each other in a circle, and no two files have one name") {
  const fs::path root = source_dir();
  std::vector<std::string> paths;
  for (const char* folder : {"lib", "rules", "apps"}) {
    for (const auto& source : sources_below(root / folder)) {
      paths.push_back(fs::relative(source, root).generic_string());
    }
  }
  std::ranges::sort(paths);
  UnitGraph graph;
  std::size_t resolved = 0;
  for (const std::string& path : paths) {
    std::ifstream stream(root / path);
    std::string line;
    while (std::getline(stream, line)) {
      const auto include = quoted_include(line);
      if (!include) continue;
      for (const std::string& folder : {std::string("lib"), std::string("apps"), path.substr(0, path.rfind('/'))}) {
        const std::string included = folder + "/" + *include;
        if (!std::binary_search(paths.begin(), paths.end(), included)) continue;
        graph[unit_of(path)].insert(unit_of(included));
        ++resolved;
        break;
      }
    }
  }
  CHECK(resolved > 500);  // else the walk looked in the wrong place
  for (const std::set<std::string>& circle : circles_in(graph)) {
    FAIL_CHECK("these include each other: " << joined(circle));
  }
  for (const auto& shared : shared_names(paths)) {
    FAIL_CHECK("several folders have a file named " << shared.first << ": " << joined(shared.second));
  }
}

}  // namespace doctor::include_order_test
