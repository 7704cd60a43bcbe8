// What every rule of the catalogue owes: a page, thresholds that explain themselves, and two recorded cases.

#include "diagnose/catalog.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "built_paths.h"
#include "diagnose/host_comparison.h"
#include "diagnose/judgement.h"

namespace doctor::catalog_test {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kSections = {"What it sees", "Why it matters", "What to do", "When it is wrong",
                                            "Sources"};

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

TEST_CASE("every page has its id as title, one sentence, and the five sections with text in each") {
  for (const CatalogEntry& entry : rule_catalog()) {
    CAPTURE(entry.rule.id);
    const std::vector<std::string> lines = lines_of(entry.page);
    REQUIRE(lines.size() > 4);
    CHECK(lines[0] == "# " + std::string(entry.rule.id));
    CHECK(lines[1].empty());
    CHECK(lines[2].ends_with("."));
    CHECK(entry.page.find("TODO") == std::string_view::npos);
    std::vector<std::string> sections;
    for (std::size_t index = 0; index < lines.size(); ++index) {
      if (!lines[index].starts_with("## ")) continue;
      sections.push_back(lines[index].substr(3));
      const bool has_text = index + 1 < lines.size() && !lines[index + 1].empty() && lines[index + 1][0] != '#';
      CHECK_MESSAGE(has_text, "'", lines[index], "' has no text right below it");
    }
    CHECK(sections == kSections);
  }
}

TEST_CASE("every rule says in one line what it finds, and every threshold what it decides") {
  std::set<std::string_view> ids;
  for (const CatalogEntry& entry : rule_catalog()) {
    const Rule& rule = entry.rule;
    CAPTURE(rule.id);
    CHECK(ids.insert(rule.id).second);
    const bool has_check = rule.check != nullptr;
    CHECK(has_check);
    CHECK(rule.summary.size() >= 20);
    CHECK(rule.summary.size() <= 100);
    CHECK_FALSE(rule.summary.ends_with("."));
    for (const Threshold& threshold : rule.thresholds) {
      CAPTURE(threshold.name);
      CHECK_FALSE(threshold.name.empty());
      CHECK_FALSE(threshold.unit.empty());
      CHECK(threshold.meaning.size() >= 20);
      CHECK_MESSAGE(entry.page.find(threshold.name) != std::string_view::npos, "the page does not mention it");
    }
  }
}

TEST_CASE("every rule names the pages of TensorFlow that its advice follows") {
  for (const CatalogEntry& entry : rule_catalog()) {
    CAPTURE(entry.rule.id);
    REQUIRE_FALSE(entry.rule.follows.empty());
    std::set<std::string_view> urls;
    for (const Reference& reference : entry.rule.follows) {
      CHECK(reference.url.starts_with("https://www.tensorflow.org/"));
      CHECK(reference.url.find(' ') == std::string_view::npos);
      CHECK_FALSE(reference.title.empty());
      CHECK_MESSAGE(urls.insert(reference.url).second, reference.url, " is named twice");
    }
  }
}

TEST_CASE("exactly one rule states the verdict, by its thresholds") {
  std::size_t count = 0;
  for (const CatalogEntry& entry : rule_catalog()) {
    if (!entry.rule.states_verdict) continue;
    ++count;
    const std::vector<Threshold> expected = verdict_thresholds();
    REQUIRE(entry.rule.thresholds.size() == expected.size());
    for (std::size_t index = 0; index < expected.size(); ++index) {
      CHECK(entry.rule.thresholds[index].name == expected[index].name);
    }
  }
  CHECK(count == 1);
}

TEST_CASE("exactly one rule compares hosts, by its thresholds") {
  std::size_t count = 0;
  for (const CatalogEntry& entry : rule_catalog()) {
    if (!entry.rule.compares_hosts) continue;
    ++count;
    const std::vector<Threshold> expected = straggler_thresholds();
    REQUIRE(entry.rule.thresholds.size() == expected.size());
    for (std::size_t index = 0; index < expected.size(); ++index) {
      CHECK(entry.rule.thresholds[index].name == expected[index].name);
    }
  }
  CHECK(count == 1);
}

TEST_CASE("a rule that holds the use of the cores against a threshold says so") {
  for (const CatalogEntry& entry : rule_catalog()) {
    const bool has_threshold =
        std::any_of(entry.rule.thresholds.begin(), entry.rule.thresholds.end(), [](const Threshold& threshold) {
          return threshold.name == "min_utilization" || threshold.name == "max_utilization";
        });
    CHECK_MESSAGE(entry.rule.judges_load == has_threshold, entry.rule.id);
  }
}

TEST_CASE("every rule has a recorded case in which it fires and one in which it does not") {
  const fs::path cases = fs::path(source_dir()) / "testdata/rules";
  std::set<std::string> ids;
  for (const CatalogEntry& entry : rule_catalog()) {
    ids.insert(std::string(entry.rule.id));
    for (const char* kind : {"flags", "clean"}) {
      const fs::path folder = cases / entry.rule.id / kind;
      CHECK_MESSAGE(fs::exists(folder / "expected.json"), folder.string(), " has no case");
    }
  }
  for (const fs::directory_entry& folder : fs::directory_iterator(cases)) {
    CHECK_MESSAGE(ids.contains(folder.path().filename().string()), folder.path().string(), " is of no rule");
  }
}

TEST_CASE("every rule has a test of its situations and of its thresholds") {
  const fs::path tests = fs::path(source_dir()) / "tests/rules";
  std::set<std::string> files;
  for (const CatalogEntry& entry : rule_catalog()) {
    const std::string name = std::string(entry.rule.id) + "_test.cpp";
    files.insert(name);
    std::ostringstream text;
    text << std::ifstream(tests / name).rdbuf();
    const std::string test = text.str();
    for (const std::string& part : {"kRule = \"" + std::string(entry.rule.id) + "\";", std::string("check_situations("),
                                    std::string("check_thresholds(")}) {
      const bool has_part = test.find(part) != std::string::npos;
      CHECK_MESSAGE(has_part, name, " lacks ", part);
    }
    CHECK_MESSAGE(test.find("TODO") == std::string::npos, name, " is unfinished");
  }
  for (const fs::directory_entry& file : fs::directory_iterator(tests)) {
    const std::string name = file.path().filename().string();
    CHECK_MESSAGE((file.path().extension() != ".cpp" || files.contains(name)), name, " tests no rule");
  }
}

}  // namespace
}  // namespace doctor::catalog_test
