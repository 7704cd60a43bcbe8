// What each CI document says of a report made by hand.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "ci_reader.h"
#include "report/problem.h"

namespace doctor::problem_sinks_test {
namespace {

using Json = nlohmann::json;

/// A failing warning, a note, and an error that is suppressed; four rules.
ProblemReport sample_report() {
  ProblemReport report;
  report.command = "diagnose";
  report.verdict = "INPUT-BOUND";
  report.summary = "63% of the time is spent in GetNext.";
  report.outcome = ProblemOutcome::failed;
  for (const char* id : {"clean-rule", "missing-prefetch", "slow-source", "unknown-rule"}) {
    report.rules.push_back(
        {id, std::string("About ") + id, std::string("# ") + id + "\n\nWhat it is.\nAll of it.\n\n## A"});
  }
  report.rules[2].url = "https://www.tensorflow.org/guide/data_performance_analysis";
  report.problems.resize(3);
  Problem& first = report.problems[0];
  first.rule = "slow-source";
  first.subject = "Iterator::Root::TFRecord";
  first.pipeline = "Iterator::Root";
  first.host = "host-1";
  first.message = "63% of the wait is in TFRecord";
  first.evidence = {{"share", 0.63, "share"}, {"calls", 8, "calls"}};
  first.advice = {{"Read several files at once", "a = 1\nb = 2"}, {"Or shard", std::nullopt}};
  first.location = {"src/input pipeline.py", 12};
  first.fails = true;
  report.problems[1] = first;
  report.problems[1].rule = "missing-prefetch";
  report.problems[1].severity = Severity::note;
  report.problems[1].fails = false;
  report.problems[2] = first;
  report.problems[2].severity = Severity::error;
  report.problems[2].suppressed = "the cluster's disks";
  for (Problem& problem : report.problems) problem.identity = problem.subject;
  set_fingerprints(report.problems);
  report.not_evaluated = {{"unknown-rule", "no GetNext"}};
  return report;
}

ProblemReport report_with(std::size_t count, const std::string& message) {
  ProblemReport report = sample_report();
  report.problems.resize(1);
  report.problems.front().message = message;
  report.problems.resize(count, report.problems.front());
  set_fingerprints(report.problems);
  return report;
}

std::size_t occurrences(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace

TEST_CASE("SARIF has what GitHub asks of each result") {
  const Json page = Json::parse(render_sarif(sample_report()));
  CHECK(page["version"] == "2.1.0");
  const Json& run = page["runs"][0];
  const Json& rules = run["tool"]["driver"]["rules"];
  REQUIRE(rules.size() == 4);
  CHECK(rules[2]["name"] == "SlowSource");
  CHECK(rules[2]["shortDescription"]["text"] == "About slow-source");
  CHECK(rules[2]["fullDescription"]["text"] == "What it is. All of it.");
  CHECK(rules[2]["help"]["markdown"] == "# slow-source\n\nWhat it is.\nAll of it.\n\n## A");
  CHECK(rules[2]["helpUri"] == "https://www.tensorflow.org/guide/data_performance_analysis");
  CHECK_FALSE(rules[1].contains("helpUri"));
  REQUIRE(run["results"].size() == 3);
  const Json& result = run["results"][0];
  CHECK(result["ruleId"] == "slow-source");
  CHECK(result["ruleIndex"] == 2);
  CHECK(result["level"] == "warning");
  CHECK(result["message"]["text"] == "63% of the wait is in TFRecord (Iterator::Root::TFRecord).");
  const Json& location = result["locations"][0];
  CHECK(location["physicalLocation"]["artifactLocation"]["uri"] == "src/input%20pipeline.py");
  CHECK(location["physicalLocation"]["region"]["startLine"] == 12);
  CHECK(location["logicalLocations"][0]["fullyQualifiedName"] == "Iterator::Root::TFRecord");
  CHECK(result["properties"]["host"] == "host-1");
  CHECK(result["properties"]["evidence"][0]["name"] == "share");
  CHECK_FALSE(result.contains("suppressions"));
  CHECK(run["results"][1]["level"] == "note");
  CHECK(run["results"][2]["level"] == "error");
  CHECK(run["results"][2]["suppressions"][0]["justification"] == "the cluster's disks");
  std::set<std::string> fingerprints;
  for (const Json& made : run["results"]) fingerprints.insert(made["partialFingerprints"]["primaryLocationLineHash"]);
  CHECK(fingerprints.size() == 3);
  CHECK(run["invocations"][0]["executionSuccessful"] == true);
  CHECK_FALSE(run["invocations"][0].contains("toolExecutionNotifications"));
}

TEST_CASE("SARIF of a run without verdict says so, and a rule that is not listed is added") {
  ProblemReport report = sample_report();
  report.outcome = ProblemOutcome::nothing_to_judge;
  report.problems[0].rule = "new-rule";
  const Json run = Json::parse(render_sarif(report))["runs"][0];
  CHECK(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] == report.summary);
  CHECK(run["tool"]["driver"]["rules"].size() == 5);
  CHECK(run["tool"]["driver"]["rules"][run["results"][0]["ruleIndex"].get<std::size_t>()]["id"] == "new-rule");
}

TEST_CASE("SARIF holds as many results as GitHub takes and counts the rest") {
  const Json run = Json::parse(render_sarif(report_with(kMostSarifResults + 2, "a")))["runs"][0];
  CHECK(run["results"].size() == kMostSarifResults);
  CHECK(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] ==
        "2 problems of 25,002 left out: GitHub takes 25,000.");
}

TEST_CASE("JUnit has a test case for each problem and for each other rule") {
  const std::string xml = render_junit(sample_report());
  CHECK(xml.find("<testsuite name=\"tfdata-doctor diagnose\" tests=\"6\" failures=\"1\" errors=\"0\" skipped=\"2\">") !=
        std::string::npos);
  CHECK(occurrences(xml, "<testcase ") == 6);
  CHECK(xml.find("<testcase name=\"clean-rule\" classname=\"tfdata-doctor.diagnose.clean-rule\"/>") !=
        std::string::npos);
  CHECK(xml.find("<testcase name=\"slow-source in Iterator::Root::TFRecord\" "
                 "classname=\"tfdata-doctor.diagnose.slow-source\" file=\"src/input pipeline.py\" line=\"12\">"
                 "<failure message=\"63% of the wait is in TFRecord\" type=\"warning\">") != std::string::npos);
  CHECK(xml.find("    a = 1\n    b = 2\nfix: Or shard.\n") != std::string::npos);
  CHECK(xml.find("evidence: share 63%, calls 8 calls") != std::string::npos);
  CHECK(xml.find("line=\"12\"><system-out>63%") != std::string::npos);  // the note passes
  CHECK(xml.find("<skipped message=\"suppressed: the cluster&#39;s disks\"/>") != std::string::npos);
  CHECK(xml.find("<skipped message=\"no GetNext\"/>") != std::string::npos);
  // One of a name is followed by its number, or readers would take both for one test case.
  CHECK(xml.find("name=\"slow-source in Iterator::Root::TFRecord (2)\"") != std::string::npos);
}

TEST_CASE("JUnit of a run without verdict has an error") {
  ProblemReport report = sample_report();
  report.outcome = ProblemOutcome::nothing_to_judge;
  report.problems.clear();
  const std::string xml = render_junit(report);
  CHECK(xml.find("failures=\"0\" errors=\"1\"") != std::string::npos);
  CHECK(xml.find("<error message=\"INPUT-BOUND: 63% of the time") != std::string::npos);
}

TEST_CASE("GitLab gets what is not suppressed") {
  const Json issues = Json::parse(render_gitlab(sample_report()));
  REQUIRE(issues.size() == 2);
  CHECK(issues[0]["description"] == "63% of the wait is in TFRecord (Iterator::Root::TFRecord)");
  CHECK(issues[0]["check_name"] == "slow-source");
  CHECK(issues[0]["severity"] == "major");
  CHECK(issues[0]["location"]["path"] == "src/input pipeline.py");
  CHECK(issues[0]["location"]["lines"]["begin"] == 12);
  CHECK(issues[1]["severity"] == "info");
  CHECK(issues[0]["fingerprint"] != issues[1]["fingerprint"]);
  ProblemReport report = sample_report();
  report.problems[2].suppressed.reset();
  report.problems[2].host = "host-2";
  const Json all = Json::parse(render_gitlab(report));
  CHECK(all[2]["severity"] == "critical");
  CHECK(all[2]["description"] == "63% of the wait is in TFRecord (Iterator::Root::TFRecord on host-2)");
  report.problems.clear();
  CHECK(render_gitlab(report) == "[]\n");
}

TEST_CASE("GitHub's annotations are commands and nothing else") {
  const std::string output = render_github(sample_report());
  const std::vector<WorkflowCommand> commands = commands_in(output);
  REQUIRE(commands.size() == 3);
  CHECK(occurrences(output, "\n") == 3);
  CHECK(commands[0].name == "notice");
  CHECK(commands[0].properties.at("title") == "tfdata-doctor diagnose: failed");
  CHECK(commands[0].message == "INPUT-BOUND: 63% of the time is spent in GetNext.\n1 warning, 1 note; 1 suppressed");
  CHECK(commands[1].name == "warning");
  CHECK(commands[1].properties.at("file") == "src/input pipeline.py");
  CHECK(commands[1].properties.at("line") == "12");
  CHECK(commands[1].properties.at("title") == "slow-source in Iterator::Root::TFRecord");
  CHECK(commands[1].message ==
        "63% of the wait is in TFRecord\n"
        "in Iterator::Root::TFRecord\n"
        "Read several files at once.");
  CHECK(commands[2].name == "notice");
}

TEST_CASE("names cannot add annotations or properties to GitHub's") {
  ProblemReport report = sample_report();
  for (std::string* text : {&report.summary, &report.problems[0].message, &report.problems[0].subject,
                            &report.problems[0].location.path, &report.problems[0].advice[0].text.action}) {
    *text = "a,line=7::b\r\n::error::planted";
  }
  const std::vector<WorkflowCommand> commands = commands_in(render_github(report));
  REQUIRE(commands.size() == 3);
  for (const WorkflowCommand& command : commands) CHECK(command.name != "error");
  CHECK(commands[1].properties.at("line") == "12");
}

TEST_CASE("Markdown begins with the verdict and folds the details") {
  const std::string page = render_markdown(sample_report());
  CHECK(page.starts_with("### \xE2\x9D\x8C tfdata-doctor diagnose: INPUT-BOUND\n\n63% of the time"));
  CHECK(page.find("| warning | `slow-source` | `Iterator::Root::TFRecord` | 63% of the wait is in TFRecord |\n") !=
        std::string::npos);
  CHECK(occurrences(page, "<details>") == 2);
  CHECK(occurrences(page, "</details>") == 2);
  CHECK(page.find("- share: 63%\n- calls: 8 calls\n") != std::string::npos);
  CHECK(page.find("```python\na = 1\nb = 2\n```\n") != std::string::npos);
  CHECK(
      page.ends_with("1 warning, 1 note; 1 suppressed. 1 rule found nothing, 1 could not be evaluated. "
                     "`tfdata-doctor explain RULE` says more.\n"));
  CHECK(page.find("Cut to fit") == std::string::npos);
  ProblemReport clean = sample_report();
  clean.problems.clear();
  clean.outcome = ProblemOutcome::passed;
  CHECK(render_markdown(clean).find("| severity") == std::string::npos);
}

TEST_CASE("a fence of Markdown is longer than the backticks in it") {
  ProblemReport report = sample_report();
  report.problems[0].advice = {{"Do.", "a\n````\n# b"}};
  const std::string page = render_markdown(report);
  CHECK(page.find("`````python\na\n````\n# b\n`````\n") != std::string::npos);
}

TEST_CASE("Markdown fits into a comment and says what was cut") {
  for (const std::size_t length : {std::size_t{10}, std::size_t{1'000}, std::size_t{100'000}}) {
    // '@' becomes the longest of all characters.
    for (const std::size_t count : {std::size_t{1}, std::size_t{40}, std::size_t{5'000}}) {
      CAPTURE(length);
      CAPTURE(count);
      ProblemReport report = report_with(count, std::string(length, '@'));
      report.summary = report.problems.front().message;
      const std::string page = render_markdown(report);
      CHECK(page.size() <= kLongestMarkdown);
      const std::size_t details = occurrences(page, "<details>");
      CHECK(details == occurrences(page, "</details>"));
      const bool says_cut = page.find("Cut to fit into a comment: " + std::to_string(count - details) +
                                      " without details") != std::string::npos;
      CHECK(says_cut == (details < count));
      CHECK(details > 0);
      CHECK(page.ends_with("explain RULE` says more.\n"));
    }
  }
}

TEST_CASE("bytes that are not UTF-8 leave every document readable") {
  ProblemReport report = sample_report();
  report.problems[0].subject = report.problems[0].message = report.problems[0].location.path = "a\xFF\xC0z";
  report.problems[0].evidence[0].name = report.problems[0].advice[0].text.action = "a\xFF";
  const std::string bad = "a\xEF\xBF\xBD\xEF\xBF\xBDz";
  const Json sarif = Json::parse(render_sarif(report));
  CHECK(sarif["runs"][0]["results"][0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == bad);
  CHECK(Json::parse(render_gitlab(report))[0]["location"]["path"] == bad);
  for (const std::string& page : {render_junit(report), render_github(report), render_markdown(report)}) {
    CHECK(page.find('\xFF') == std::string::npos);
    CHECK(page.find(bad) != std::string::npos);
  }
}

}  // namespace doctor::problem_sinks_test
