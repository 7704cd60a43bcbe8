// A diagnosis as problems for CI, over recorded and written traces.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline.h"
#include "report/problem.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"

namespace doctor::diagnosis_problems_test {
namespace {

struct Diagnosed {
  std::vector<CatalogEntry> catalog = rule_catalog();
  Analysis analysis;

  explicit Diagnosed(const std::vector<std::string>& files) {
    std::vector<Rule> rules;
    for (const CatalogEntry& entry : catalog) rules.push_back(entry.rule);
    analysis = diagnose_files(files, {.rules = rules});
  }

  ProblemReport problems(ProblemContext context = {}) const {
    context.catalog = catalog;
    return problems_of(analysis.measurements, analysis.diagnosis, context);
  }
};

/// Steps of 10 ms, of which `wait_us` are spent in a Map.
std::string steps_with_waits(double wait_us, int step_count = 12) {
  SyntheticTrace trace;
  for (int step = 0; step < step_count; ++step) {
    const double start = 10'000.0 * step;
    trace.add("main", "IteratorGetNextOp::DoCompute", start, wait_us);
    trace.iterator("main", "Iterator::Root", 1, 0, start + 1, wait_us - 2);
    trace.iterator("main", "Iterator::Root::Map", 2, 1, start + 2, wait_us - 4);
  }
  return trace.to_xspace();
}

std::set<std::string> fingerprints_of(const ProblemReport& report) {
  std::set<std::string> fingerprints;
  for (const Problem& problem : report.problems) fingerprints.insert(problem.fingerprint);
  return fingerprints;
}

}  // namespace

TEST_CASE("every finding is a problem, and every rule of the catalogue is listed") {
  const TemporaryDirectory folder;
  const Diagnosed diagnosed({folder.write("logs/host.xplane.pb", steps_with_waits(9'000))});
  const ProblemReport report = diagnosed.problems({.working_directory = folder.path()});
  CHECK(report.command == "diagnose");
  CHECK(report.verdict == "INPUT-BOUND");
  CHECK(report.summary.find("90%") != std::string::npos);
  CHECK(report.outcome == ProblemOutcome::failed);
  CHECK(report.rules.size() == diagnosed.catalog.size());
  REQUIRE(report.problems.size() == diagnosed.analysis.diagnosis.findings.size());
  REQUIRE(report.problems.size() >= 2);
  CHECK(fingerprints_of(report).size() == report.problems.size());
  for (const Problem& problem : report.problems) {
    CAPTURE(problem.rule);
    CHECK(problem.location.path == "logs/host.xplane.pb");
    CHECK(problem.pipeline == "Iterator::Root");
    CHECK(problem.host == "host-1");
    CHECK(problem.fails == (problem.severity >= Severity::warning));
  }
}

TEST_CASE("the place in the source is shown in place of the trace") {
  const TemporaryDirectory folder;
  const Diagnosed diagnosed({folder.write("host.xplane.pb", steps_with_waits(9'000))});
  const ProblemReport report = diagnosed.problems({.source = ProblemLocation{"src/input.py", 7}});
  REQUIRE_FALSE(report.problems.empty());
  CHECK(report.problems[0].location.path == "src/input.py");
  CHECK(report.problems[0].location.line == 7);
}

/// The same, with a map that its name says is made in line 33 of input.py.
std::string named_steps() {
  SyntheticTrace trace;
  for (int step = 0; step < 12; ++step) {
    const double start = 10'000.0 * step;
    trace.add("main", "IteratorGetNextOp::DoCompute", start, 9'000);
    trace.iterator("main", "Iterator::Root", 1, 0, start + 1, 8'998).texts["name"] = "at_input_py_L33_map";
    trace.iterator("main", "Iterator::Root::Map", 2, 1, start + 2, 8'996).texts["name"] = "at_input_py_L33_map";
  }
  return trace.to_xspace();
}

/// "src/input.py:33" for the problem about the map, and for that about the pipeline as a whole.
std::pair<std::string, std::string> places_in(const ProblemReport& report) {
  std::pair<std::string, std::string> places;
  for (const Problem& problem : report.problems) {
    std::string& place = problem.subject == "Iterator::Root::Map" ? places.first : places.second;
    place = problem.location.path + ":" + std::to_string(problem.location.line);
  }
  return places;
}

TEST_CASE("a problem is shown at the line that made its iterator") {
  using Places = std::pair<std::string, std::string>;
  const TemporaryDirectory folder;
  const std::string trace = folder.write("logs/host.xplane.pb", named_steps());
  const auto places = [&](const std::string& root, const std::string& directory, ProblemContext context = {}) {
    folder.write("logs/dataset-lines.json",
                 R"({"schema":"tfdata-doctor.lines/1","root":")" + root +
                     R"(","names":{"at_input_py_L33_map":{"file":"/job/src/input.py","line":33}}})");
    context.working_directory = directory;
    return places_in(Diagnosed({trace}).problems(context));
  };
  CHECK(places("/elsewhere", "/job") == Places("src/input.py:33", "host.xplane.pb:1"));
  // Recorded on another machine.
  CHECK(places("/job", folder.path()) == Places("src/input.py:33", "logs/host.xplane.pb:1"));
  CHECK(places("/elsewhere", folder.path()) == Places("logs/host.xplane.pb:1", "logs/host.xplane.pb:1"));
  CHECK(places("/job", folder.path(), {.source = ProblemLocation{"train.py", 7}}) ==
        Places("src/input.py:33", "train.py:7"));
  // Where only the file's name is known, it may be the file that the user names.
  std::filesystem::remove(folder / "logs/dataset-lines.json");
  const auto named = [&](const std::string& source) {
    return places_in(Diagnosed({trace}).problems({.source = ProblemLocation{source, 7}}));
  };
  CHECK(named("src/input.py") == Places("src/input.py:33", "src/input.py:7"));
  CHECK(named("src/other_input.py") == Places("src/other_input.py:7", "src/other_input.py:7"));
}

TEST_CASE("fingerprints do not depend on lines") {
  const TemporaryDirectory folder;
  CHECK(fingerprints_of(Diagnosed({folder.write("a.pb", named_steps())}).problems()) ==
        fingerprints_of(Diagnosed({folder.write("b.pb", steps_with_waits(9'000))}).problems()));
}

TEST_CASE("--fail-on decides which problems fail") {
  const TemporaryDirectory folder;
  const Diagnosed diagnosed({folder.write("host.xplane.pb", steps_with_waits(9'000))});
  CHECK(diagnosed.problems({.fail_on = std::nullopt}).outcome == ProblemOutcome::passed);
  CHECK(diagnosed.problems({.fail_on = Severity::error}).outcome == ProblemOutcome::passed);
  CHECK(diagnosed.problems({.fail_on = Severity::note}).outcome == ProblemOutcome::failed);
  const Diagnosed nothing({folder.write("empty.json", "{\"traceEvents\":[{}]}")});
  CHECK(nothing.problems({.fail_on = Severity::note}).outcome == ProblemOutcome::nothing_to_judge);
}

TEST_CASE("fingerprints are the same for other numbers, another machine, other files and their order") {
  const TemporaryDirectory folder;
  const std::string first = folder.write("a/host-1.xplane.pb", steps_with_waits(9'000));
  const std::string second = folder.write("b/renamed.xplane.pb", steps_with_waits(8'500, 20));
  const std::set<std::string> expected = fingerprints_of(Diagnosed({first}).problems());
  CHECK(fingerprints_of(Diagnosed({second}).problems()) == expected);
  const std::set<std::string> together = fingerprints_of(Diagnosed({first, second}).problems());
  CHECK(together.size() > expected.size());
  CHECK(std::includes(together.begin(), together.end(), expected.begin(), expected.end()));
  CHECK(fingerprints_of(Diagnosed({second, first}).problems()) == together);
}

TEST_CASE("a host or a file that a problem is about leaves no trace in its fingerprint") {
  const TemporaryDirectory folder;
  const std::string whole = steps_with_waits(20);
  const std::string cut = steps_with_waits(20).substr(0, whole.size() - 20);
  const auto damaged = [&](const std::string& name) {
    const ProblemReport report =
        Diagnosed({folder.write("whole.pb", whole), folder.write(name, cut)}).problems({.working_directory = "/"});
    const auto found = std::find_if(report.problems.begin(), report.problems.end(),
                                    [](const Problem& problem) { return problem.rule == "damaged-trace"; });
    REQUIRE(found != report.problems.end());
    CHECK(found->subject.find(name) != std::string::npos);
    CHECK(found->location.path == (folder / name).substr(1));
    return found->fingerprint;
  };
  CHECK(damaged("one.pb") == damaged("two.pb"));
}

}  // namespace doctor::diagnosis_problems_test
