#include "report/problem.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace doctor::problem_test {
namespace {

Problem problem(std::string rule, std::string identity, std::string message = {}) {
  Problem made;
  made.rule = std::move(rule);
  made.identity = std::move(identity);
  made.message = std::move(message);
  return made;
}

std::vector<std::string> fingerprints_of(std::vector<Problem> problems) {
  set_fingerprints(problems);
  std::vector<std::string> fingerprints;
  fingerprints.reserve(problems.size());
  for (const Problem& made : problems) fingerprints.push_back(made.fingerprint);
  return fingerprints;
}

}  // namespace

TEST_CASE("fingerprints hang on rule and identity alone, and all are distinct") {
  const std::vector<std::string> known = fingerprints_of({problem("slow-source", "Iterator::Root")});
  // They are stored by GitHub and GitLab: a change opens every alert anew.
  CHECK(known.at(0) == "f4c96a402361042a:1");
  CHECK(fingerprints_of({problem("slow-source", "Iterator::Root", "63% of the time")}) == known);
  CHECK(fingerprints_of({problem("slow-source", "Iterator::Root::Map")}) != known);
  CHECK(fingerprints_of({problem("input-bound", "Iterator::Root")}) != known);
  // The rule's end and the subject's start are kept apart.
  CHECK(fingerprints_of({problem("a", "b")}) != fingerprints_of({problem("ab", "")}));

  const std::vector<std::string> alike =
      fingerprints_of({problem("a", "b"), problem("c", "d"), problem("a", "b"), problem("a", "b")});
  CHECK(alike[0].ends_with(":1"));
  CHECK(alike[1].ends_with(":1"));
  CHECK(alike[2] == alike[0].substr(0, 16) + ":2");
  CHECK(alike[3] == alike[0].substr(0, 16) + ":3");
}

TEST_CASE("a rule passed, was not evaluated, or has problems") {
  ProblemReport report;
  for (const char* id : {"clean", "unknown", "found", "half-known", "silenced"}) report.rules.push_back({id, id, {}});
  report.problems = {problem("found", "a"), problem("half-known", "a"), problem("silenced", "a")};
  report.problems.back().suppressed = "known";
  report.not_evaluated = {{"half-known", "no GetNext"}, {"unknown", "no GetNext"}};
  REQUIRE(passed_rules(report).size() == 1);
  CHECK(passed_rules(report)[0]->id == "clean");
  REQUIRE(skipped_rules(report).size() == 1);
  CHECK(skipped_rules(report)[0]->rule == "unknown");
  CHECK(shown_problems(report).size() == 2);
}

TEST_CASE("problems are counted by severity, suppressed ones apart") {
  ProblemReport report;
  CHECK(describe_counts(report) == "no problems");
  report.problems = {problem("a", "a"), problem("b", "b"), problem("c", "c")};
  report.problems[2].severity = Severity::note;
  CHECK(describe_counts(report) == "2 warnings, 1 note");
  report.problems[0].suppressed = "known";
  report.problems[1].severity = Severity::error;
  CHECK(describe_counts(report) == "1 error, 1 note; 1 suppressed");
  report.problems[1].suppressed = report.problems[2].suppressed = "known";
  CHECK(describe_counts(report) == "no problems; 3 suppressed");
}

TEST_CASE("the host is named where there are several") {
  ProblemReport report;
  CHECK_FALSE(spans_hosts(report));
  report.problems = {problem("a", "a"), problem("b", "b")};
  report.problems[0].host = report.problems[1].host = "host-1";
  CHECK_FALSE(spans_hosts(report));
  report.problems[1].host = "host-2";
  CHECK(spans_hosts(report));
  report.problems[0].subject = "Iterator::Root";
  CHECK(describe_place(report.problems[0], true) == "Iterator::Root on host-1");
  CHECK(describe_place(report.problems[0], false) == "Iterator::Root");
  CHECK(describe_place(report.problems[1], true) == "host host-2");
  CHECK(describe_place(report.problems[1], false).empty());
  report.problems[1].subject = "host-2";  // a rule about hosts
  CHECK(describe_place(report.problems[1], true) == "host-2");
}

TEST_CASE("a path of the repository is relative and stays within it") {
  struct Row {
    std::string path;
    std::optional<std::string> expected;
    std::string of_trace;
  };
  const std::vector<Row> rows = {
      {"logs/host.xplane.pb", "logs/host.xplane.pb", "logs/host.xplane.pb"},
      {"./logs//a/../host.pb", "logs/host.pb", "logs/host.pb"},
      {"/home/me/repo/logs/host.pb", "logs/host.pb", "logs/host.pb"},
      {"/home/me/repo/../repo/host.pb", "host.pb", "host.pb"},
      {"/home/me/repository/host.pb", std::nullopt, "host.pb"},
      {"/tmp/host.pb", std::nullopt, "host.pb"},
      {"../host.pb", std::nullopt, "host.pb"},
      {"logs/../../host.pb", std::nullopt, "host.pb"},
      {"..", std::nullopt, "trace"},
      {".", std::nullopt, "trace"},
      {"/home/me/repo", std::nullopt, "repo"},
      {"logs/", std::nullopt, "trace"},
      {"gs://bucket/host.pb", std::nullopt, "host.pb"},
      {"file:///home/me/repo/host.pb", std::nullopt, "host.pb"},
      {"-", std::nullopt, "standard-input"},
      {"", std::nullopt, "standard-input"},
      {"standard input", "standard input", "standard-input"},
      {"..logs/host.pb", "..logs/host.pb", "..logs/host.pb"},
      {"a://b", std::nullopt, "b"},
      {"a/b://c", "a/b:/c", "a/b:/c"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.path);
    CHECK(repository_path(row.path, "/home/me/repo") == row.expected);
    CHECK(trace_location(row.path, "/home/me/repo") == row.of_trace);
  }
  // Nowhere: no absolute path is below it.
  CHECK_FALSE(repository_path("/home/me/host.pb", "").has_value());
}

}  // namespace doctor::problem_test
