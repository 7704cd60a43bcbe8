// Documents for CI of shipped traces, the report as a person reads it, and predictions:
// testdata/outputs/<trace>.<format>.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "golden_file.h"
#include "pipeline.h"
#include "report/problem.h"
#include "report/report.h"
#include "report/whatif_page.h"
#include "shown_page.h"

namespace doctor::golden_outputs_test {
namespace {

namespace fs = std::filesystem;

const fs::path kTestdata = golden::source_folder() / "testdata";

Analysis analysis_of(const std::string& trace, const std::vector<CatalogEntry>& catalog) {
  const std::vector<Rule> rules = rules_of(catalog);
  fs::current_path(kTestdata);
  return diagnose_files(std::vector{trace}, {.rules = rules});
}

struct Problems {
  std::vector<CatalogEntry> catalog = rule_catalog();
  Analysis analysis;

  explicit Problems(const std::string& trace) : analysis(analysis_of(trace, catalog)) {}
  ProblemReport report() const {
    return problems_of(analysis.measurements, analysis.diagnosis,
                       {.catalog = catalog, .working_directory = kTestdata.string()});
  }
};

/// As if the catalogue held only the rules that found something, one that looks at every trace and one about devices:
/// a new rule that finds nothing leaves the stored documents as they are.
void leave_out_silent_rules(Problems& problems) {
  std::set<std::string> kept = {"damaged-trace", "full-precision"};
  for (const Finding& finding : problems.analysis.diagnosis.findings) kept.insert(finding.rule);
  std::erase_if(problems.catalog,
                [&](const CatalogEntry& entry) { return !kept.contains(std::string(entry.rule.id)); });
  std::erase_if(problems.analysis.diagnosis.not_evaluated,
                [&](const NotEvaluated& entry) { return !kept.contains(entry.rule); });
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// The results alone, without numbers whose last digits are the compiler's: the rules' pages are tested elsewhere.
std::string results_of(const std::string& sarif) {
  nlohmann::ordered_json results = nlohmann::ordered_json::parse(sarif)["runs"][0]["results"];
  for (nlohmann::ordered_json& result : results) result.erase("properties");
  return results.dump(1) + "\n";
}

}  // namespace

TEST_CASE("the documents for CI of shipped traces") {
  const std::vector<std::pair<std::string, std::string>> traces = {
      {"traces/seed_example1.xplane.pb", "input_bound"},
      {"traces/no_tf_data_tf2.4.xplane.pb", "no_tf_data"},
      {"outputs/hostile.trace.json", "hostile"},
  };
  for (const auto& [trace, name] : traces) {
    Problems problems(trace);
    leave_out_silent_rules(problems);
    const ProblemReport report = problems.report();
    const fs::path folder = kTestdata / "outputs";
    golden::compare(results_of(render_sarif(report)), folder / (name + ".sarif_results.expected.json"));
    golden::compare(render_junit(report), folder / (name + ".junit.expected.xml"));
    golden::compare(render_gitlab(report), folder / (name + ".gitlab.expected.json"));
    golden::compare(render_github(report), folder / (name + ".github.expected.txt"));
    golden::compare(render_markdown(report), folder / (name + ".expected.md"));
  }
}

TEST_CASE("JUnit has a test case for each problem and for each rule without one") {
  const Problems problems("traces/seed_example1.xplane.pb");
  const ProblemReport report = problems.report();
  const std::string junit = render_junit(report);
  std::size_t cases = 1;  // the verdict
  for (const CatalogEntry& entry : problems.catalog) {
    CAPTURE(entry.rule.id);
    const auto found =
        static_cast<std::size_t>(std::count_if(report.problems.begin(), report.problems.end(),
                                               [&](const Problem& problem) { return problem.rule == entry.rule.id; }));
    const std::string classname = " classname=\"tfdata-doctor.diagnose." + std::string(entry.rule.id) + "\"";
    CHECK(count_of(junit, classname) == std::max<std::size_t>(found, 1));
    cases += std::max<std::size_t>(found, 1);
  }
  CHECK(count_of(junit, "<testcase ") == cases);
  CHECK(count_of(junit, "<skipped ") == problems.analysis.diagnosis.not_evaluated.size());
}

// Recorded inside of name_datasets() (docs/recording.md), with the file that it writes beside the trace.
TEST_CASE("the report and the annotations of a trace that says lines of code") {
  Problems problems("lines/lines_of_code_tf2.21/vm.xplane.pb.gz");
  const Analysis& analysis = problems.analysis;
  const fs::path folder = kTestdata / "outputs";
  golden::compare(render_text(analysis.measurements, analysis.diagnosis, {.rerun = {"logs/"}}),
                  folder / "lines_of_code.expected.txt");
  leave_out_silent_rules(problems);
  golden::compare(render_github(problems.report()), folder / "lines_of_code.github.expected.txt");
  golden::compare(results_of(render_sarif(problems.report())), folder / "lines_of_code.sarif_results.expected.json");
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
    const std::string text = render_text(analysis.measurements, analysis.diagnosis, {.rerun = {name}});
    golden::compare(text, kTestdata / "outputs" / (name.substr(0, name.find('.')) + ".expected.txt"));
  }
}

TEST_CASE("a report fits on half a screen, code and all") {
  constexpr std::size_t kMost = 16;
  for (const fs::directory_entry& entry : fs::directory_iterator(kTestdata / "traces")) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".json")) continue;
    CAPTURE(name);
    const Analysis analysis = analysis_of("traces/" + name, rule_catalog());
    const Diagnosis& diagnosis = analysis.diagnosis;
    const std::string text = render_text(analysis.measurements, diagnosis, {.rerun = {name}});
    CHECK(count_of(text, "\n") <= kMost);
    if (diagnosis.judgement.status == VerdictStatus::input_bound) CHECK(count_of(text, "\n") >= 5);
  }
}

// One without a prefetch at its end, one that makes its elements while the loop runs.
TEST_CASE("the timelines of a naive and of a prefetched pipeline") {
  for (const std::string name : {"seed_example1", "guide_parallel_map"}) {
    const TraceNeeds options = kTimelinePage.needs({});
    fs::current_path(kTestdata);
    const Analysis analysis = diagnose_files(std::vector{"traces/" + name + ".xplane.pb"}, {.needs = options});
    for (const std::size_t width : {80U, 132U}) {
      golden::compare(page_text(kTimelinePage, analysis, {.style = {.width = width}}),
                      kTestdata / "outputs" / fmt::format("timeline_{}.{}.expected.txt", name, width));
    }
  }
}

// Numbers to four digits: further ones are the compiler's.
TEST_CASE("what fixes are predicted to gain") {
  const auto round = [](const auto& self, nlohmann::ordered_json& json) -> void {
    if (json.is_number_float()) json = std::stod(fmt::format("{:.4g}", json.get<double>()));
    if (json.is_structured()) {
      for (nlohmann::ordered_json& item : json) self(self, item);
    }
  };
  for (const std::string name : {"seed_example1", "epochs_without_cache", "sequential_interleave_tf2.21"}) {
    const Analysis analysis = analysis_of("traces/" + name + ".xplane.pb", rule_catalog());
    const WhatIfRequest request = {.wants_plan = true};
    const auto hosts = predict_fixes(analysis.measurements, analysis.diagnosis, request);
    REQUIRE(hosts.has_value());
    const fs::path file = kTestdata / "outputs" / ("whatif_" + name);
    nlohmann::ordered_json page = whatif_json({analysis.measurements, analysis.diagnosis, *hosts, request});
    page.erase("tool");
    round(round, page);
    golden::compare(page.dump(1) + "\n", file.string() + ".expected.json");
    std::vector<HostPredictions> without_plan = *hosts;
    for (HostPredictions& host : without_plan) host.plan.reset();
    const WhatIfRequest plain;
    golden::compare(render_whatif_text({analysis.measurements, analysis.diagnosis, without_plan, plain}, {}),
                    file.string() + ".expected.txt");
  }
}

}  // namespace doctor::golden_outputs_test
