// Recorded traces and what is found in them:
//
// testdata/rules/<rule>/{flags,clean}/  one or more files of a run, or a file `trace` with their paths, and
//                                       expected.json: the findings of that rule (with thresholds as the file
//                                       `settings` has them, if there is one); written.trace.json is made by
//                                       written_traces.h, written.xplane.pb by written_gpu_traces.h
// testdata/traces/<name>                a trace or a folder with the files of a run, and <name>.expected.json: verdict,
//                                       culprit, the findings in short (but for those that a case of their rule holds
//                                       in full) and why rules were not evaluated
// testdata/formats/<run>/               the same run in several formats

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "diagnose/catalog.h"
#include "diagnose/threshold_settings.h"
#include "golden_file.h"
#include "pipeline.h"
#include "report/report.h"
#include "written_gpu_traces.h"
#include "written_traces.h"

namespace doctor::golden_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const fs::path kTestdata = golden::source_folder() / "testdata";

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// A trace, or all files of a folder.
std::vector<fs::path> files_of_run(const fs::path& trace) {
  if (!fs::is_directory(trace)) return {trace};
  std::vector<fs::path> files = sorted_entries(trace);
  std::erase_if(files, [](const fs::path& path) {
    return path.filename() == "expected.json" || path.filename() == "settings" ||
           path.filename() == "dataset-lines.json" || path.filename() == "memory.csv" ||
           path.filename() == "recording.json";
  });
  return files;
}

Json report_on(const std::vector<fs::path>& traces, const ThresholdSettings& thresholds = {}) {
  std::vector<std::string> files;
  // Relative, for findings about hosts without a name hold the path.
  fs::current_path(kTestdata);
  files.reserve(traces.size());
  for (const fs::path& trace : traces) files.push_back(fs::relative(trace, kTestdata).string());
  const Analysis analysis = diagnose_files(files, {.rules = all_rules(), .thresholds = thresholds});
  return Json::parse(render_json(analysis.measurements, analysis.diagnosis));
}

/// Equal but for the last digits of numbers, which are the compiler's.
bool is_same(const Json& left, const Json& right) {
  if (left.is_number() && right.is_number()) {
    const auto a = left.get<double>();
    const auto b = right.get<double>();
    return std::abs(a - b) <= 1e-9 * std::max({std::abs(a), std::abs(b), 1e-9});
  }
  if (left.type() != right.type() || left.size() != right.size()) return false;
  if (!left.is_structured()) return left == right;
  return std::equal(left.items().begin(), left.items().end(), right.items().begin(),
                    [](const auto& a, const auto& b) { return a.key() == b.key() && is_same(a.value(), b.value()); });
}

void compare(const Json& actual, const fs::path& expected_file) {
  if (golden::accepts(expected_file)) return golden::write(expected_file, actual.dump(1) + "\n");
  const Json expected = Json::parse(golden::read(expected_file), nullptr, false);
  CHECK_MESSAGE(is_same(actual, expected), expected_file.string(), " differs; found:\n", actual.dump(1));
}

/// The files of a case: those that its file `trace` points to, else the others in it.
std::vector<fs::path> traces_of(const fs::path& folder) {
  if (!fs::exists(folder / "trace")) return files_of_run(folder);
  std::vector<fs::path> traces;
  std::istringstream targets(golden::read(folder / "trace"));
  for (std::string target; targets >> target;) traces.push_back(fs::weakly_canonical(folder / target));
  return traces;
}

/// The thresholds that a case sets in its file `settings`: where the verdict of a trace leaves nothing for the rule.
ThresholdSettings settings_of(const fs::path& folder) {
  std::vector<ThresholdSetting> settings;
  if (!fs::exists(folder / "settings")) return {};
  std::istringstream words(golden::read(folder / "settings"));
  for (std::string word; words >> word;) {
    const Result<ThresholdSetting> setting = parse_threshold_setting(word, folder.string(), rule_catalog());
    REQUIRE_MESSAGE(setting, word);
    settings.push_back(*setting);
  }
  return in_force(settings);
}

// First in this file: the other cases read what it writes.
TEST_CASE("traces written by hand are what their generator writes") {
  const auto check = [](const std::string& name, const std::string& trace) {
    const fs::path file = kTestdata / "rules" / name;
    if (golden::accepts(file)) golden::write(file, trace);
    const bool is_same_text = golden::read(file) == trace;
    CHECK_MESSAGE(is_same_text, file.string(), " differs");
  };
  for (const WrittenCase& written : written_cases()) {
    check(written.file, written.pipeline.to_trace().to_chrome_json() + "\n");
  }
  for (const WrittenGpuCase& written : written_gpu_cases()) check(written.file, written.job.to_trace().to_xspace());
}

/// What a rule says in its case, for a person who reads all of it from top to bottom.
std::string phrases_of(const Json& findings) {
  std::string phrases;
  for (const Json& finding : findings) {
    phrases += "- " + finding["message"].get<std::string>() + "\n";
    for (const Json& advice : finding["advice"]) phrases += "  - " + advice["text"].get<std::string>() + "\n";
  }
  return phrases;
}

TEST_CASE("each rule on its recorded cases") {
  std::string book =
      "# What rules say\n\nThe messages and the advice of each rule in its case. A test writes this page.\n";
  for (const fs::path& rule : sorted_entries(kTestdata / "rules")) {
    book += "\n## " + rule.filename().string() + "\n\n";
    for (const fs::path& folder : sorted_entries(rule)) {
      CAPTURE(folder.string());
      const std::vector<fs::path> traces = traces_of(folder);
      REQUIRE_MESSAGE(!traces.empty(), "no trace in ", folder.string());
      for (const fs::path& trace : traces) REQUIRE_MESSAGE(fs::is_regular_file(trace), trace.string(), " is missing");
      const Json page = report_on(traces, settings_of(folder));
      Json findings = Json::array();
      for (const Json& finding : page["findings"]) {
        if (finding["rule"] == rule.filename().string()) findings.push_back(finding);
      }
      CHECK(findings.empty() == (folder.filename() == "clean"));
      compare(findings, folder / "expected.json");
      book += phrases_of(findings);
    }
  }
  golden::compare(book, kTestdata / "outputs" / "phrase-book-of-rules.md");
}

/// The rules with a case on a trace, by the trace. What such a case expects is not stored with the trace again.
std::map<fs::path, std::set<std::string>> rules_with_case() {
  std::map<fs::path, std::set<std::string>> rules;
  for (const fs::path& rule : sorted_entries(kTestdata / "rules")) {
    for (const fs::path& folder : sorted_entries(rule)) {
      const std::vector<fs::path> traces = traces_of(folder);
      if (traces.size() == 1) rules[traces.front()].insert(rule.filename().string());
    }
  }
  return rules;
}

/// Every reason once, whatever the number of rules: each rule's own are in its test.
Json reasons_in(const Json& not_evaluated) {
  std::set<std::string> reasons;
  for (const Json& entry : not_evaluated) reasons.insert(entry["reason"].get<std::string>());
  return reasons;
}

TEST_CASE("the diagnosis of each recorded trace") {
  constexpr std::string_view kExpected = ".expected.json";
  const std::map<fs::path, std::set<std::string>> stored_with_rule = rules_with_case();
  for (const fs::path& trace : sorted_entries(kTestdata / "traces")) {
    if (trace.string().ends_with(kExpected)) continue;
    CAPTURE(trace.string());
    const Json page = report_on(files_of_run(trace));
    const Json& bottleneck = page["verdict"]["culprit"];
    Json summary = {{"format", page["trace"]["files"][0]["format"]},
                    {"status", page["verdict"]["status"]},
                    {"culprit", bottleneck.is_null() ? Json(nullptr) : bottleneck["long_name"]},
                    {"findings", Json::array()},
                    {"not_evaluated", reasons_in(page["not_evaluated"])}};
    const auto stored = stored_with_rule.find(fs::weakly_canonical(trace));
    for (const Json& finding : page["findings"]) {
      if (stored != stored_with_rule.end() && stored->second.contains(finding["rule"].get<std::string>())) continue;
      summary["findings"].push_back({{"severity", finding["severity"]},
                                     {"rule", finding["rule"]},
                                     {"subject", finding["subject"]},
                                     {"message", finding["message"]}});
    }
    compare(summary, trace.string() + std::string(kExpected));
  }
}

/// What every format of a run can show: XProf's JSON has no Produce and Consume events, so times may differ a little.
Json answer_of(const Json& page) {
  const Json& bottleneck = page["verdict"]["culprit"];
  Json answer = {{"status", page["verdict"]["status"]},
                 {"culprit", bottleneck.is_null() ? Json(nullptr) : bottleneck["long_name"]},
                 {"input_share", std::round(1000 * page["verdict"]["input_share"].get<double>())},
                 {"calls", page["pipelines"][0]["get_next"]["count"]},
                 {"rules", Json::array()}};
  for (const Json& finding : page["findings"]) answer["rules"].push_back(finding["rule"]);
  return answer;
}

TEST_CASE("one run in several formats gets one answer") {
  std::size_t compared = 0;
  for (const fs::path& run : sorted_entries(kTestdata / "formats")) {
    CAPTURE(run.string());
    const std::vector<fs::path> traces = sorted_entries(run);
    REQUIRE(traces.size() >= 2);
    const Json expected = answer_of(report_on({traces.front()}));
    CHECK_FALSE(expected["culprit"].is_null());
    for (const fs::path& trace : traces) {
      CAPTURE(trace.string());
      CHECK(answer_of(report_on({trace})) == expected);
      ++compared;
    }
  }
  CHECK(compared >= 5);
}

}  // namespace
}  // namespace doctor::golden_test
