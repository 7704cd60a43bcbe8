// Documents for CI of shipped traces, and the report as a person reads it. With DOCTOR_ACCEPT_GOLDEN=1 in the
// environment the expected files, testdata/outputs/<trace>.<format>, are rewritten instead (scripts/accept-golden).

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "pipeline.h"
#include "report/diagnosis_problems.h"
#include "report/problem_sinks.h"
#include "report/report.h"

namespace doctor::golden_outputs_test {
namespace {

namespace fs = std::filesystem;

const fs::path kTestdata = fs::path(DOCTOR_SOURCE_DIR) / "testdata";

Analysis analysis_of(const std::string& trace, const std::vector<CatalogEntry>& catalog) {
  std::vector<Rule> rules;
  rules.reserve(catalog.size());
  for (const CatalogEntry& entry : catalog) rules.push_back(entry.rule);
  fs::current_path(kTestdata);
  return analyze(std::vector{trace}, rules, {});
}

ProblemReport problems_in(const std::string& trace) {
  const std::vector<CatalogEntry> catalog = rule_catalog();
  const Analysis analysis = analysis_of(trace, catalog);
  return problems_of(analysis.measurements, analysis.diagnosis,
                     {.catalog = catalog, .working_directory = kTestdata.string()});
}

/// The results alone, without numbers whose last digits are the compiler's: the rules' pages are tested elsewhere.
std::string results_of(const std::string& sarif) {
  nlohmann::ordered_json results = nlohmann::ordered_json::parse(sarif)["runs"][0]["results"];
  for (nlohmann::ordered_json& result : results) result.erase("properties");
  return results.dump(1) + "\n";
}

void compare(const std::string& actual, const fs::path& expected_file) {
  const char* const accepts = std::getenv("DOCTOR_ACCEPT_GOLDEN");
  if (accepts != nullptr && std::string_view(accepts) == "1") {
    std::ofstream(expected_file, std::ios::binary) << actual;
    return;
  }
  std::ostringstream expected;
  expected << std::ifstream(expected_file, std::ios::binary).rdbuf();
  const bool is_same = expected.str() == actual;
  CHECK_MESSAGE(is_same, expected_file.string(), " differs; found:\n", actual);
}

}  // namespace

TEST_CASE("the documents for CI of shipped traces") {
  const std::vector<std::pair<std::string, std::string>> traces = {
      {"traces/seed_example1.xplane.pb", "input_bound"},
      {"traces/no_tf_data_tf2.4.xplane.pb", "no_tf_data"},
      {"outputs/hostile.trace.json", "hostile"},
  };
  for (const auto& [trace, name] : traces) {
    const ProblemReport report = problems_in(trace);
    const fs::path folder = kTestdata / "outputs";
    compare(results_of(render_sarif(report)), folder / (name + ".sarif_results.expected.json"));
    compare(render_junit(report), folder / (name + ".junit.expected.xml"));
    compare(render_gitlab(report), folder / (name + ".gitlab.expected.json"));
    compare(render_github(report), folder / (name + ".github.expected.txt"));
    compare(render_markdown(report), folder / (name + ".expected.md"));
  }
}

// The pipelines of "Better performance with the tf.data API" (tensorflow.org), each in the loop over epochs of its
// benchmark().
TEST_CASE("the reports on the pipelines of the guide") {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kTestdata / "traces")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("guide_") && name.ends_with(".xplane.pb")) names.push_back(name);
  }
  CHECK(names.size() == 7);
  for (const std::string& name : names) {
    const Analysis analysis = analysis_of("traces/" + name, rule_catalog());
    const std::string text = render_text(analysis.measurements, analysis.diagnosis, {.rerun = name});
    compare(text, kTestdata / "outputs" / (name.substr(0, name.find('.')) + ".expected.txt"));
  }
}

}  // namespace doctor::golden_outputs_test
