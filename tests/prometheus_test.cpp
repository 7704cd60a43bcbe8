// Metrics: the text format that Prometheus reads, and its agreement with the JSON report.

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "built_paths.h"
#include "diagnose/catalog.h"
#include "pipeline.h"
#include "report/report.h"
#include "text/escape.h"

namespace doctor::prometheus_test {
namespace {

using Json = nlohmann::json;

Analysis analysis_of(const std::vector<std::string>& traces) {
  std::vector<std::string> files;
  for (const std::string& trace : traces) files.push_back(source_dir() + "/testdata/traces/" + trace);
  return diagnose_files(files, {.rules = all_rules()});
}

/// The samples by name with labels. Fails where a line is not of the format, or a sample stands twice or without a
/// head.
std::map<std::string, double> samples_of(const std::string& page) {
  static const std::regex kSample(
      R"re((tfdata_doctor_[a-z_0-9]+)(\{[a-z]+="([^"\\]|\\.)*"(,[a-z]+="([^"\\]|\\.)*")*\})? (\S+))re");
  std::map<std::string, double> samples;
  std::string metric;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    if (line.starts_with("# HELP ")) {
      metric = line.substr(7, line.find(' ', 7) - 7);
      REQUIRE(std::getline(lines, line));
      CHECK(line == "# TYPE " + metric + " gauge");
      continue;
    }
    std::smatch parts;
    REQUIRE(std::regex_match(line, parts, kSample));
    CHECK(parts[1] == metric);
    CHECK(samples.emplace(std::string(parts[1]) + std::string(parts[2]), std::stod(parts[6])).second);
  }
  return samples;
}

}  // namespace

TEST_CASE("metrics say what the JSON report says") {
  const Analysis analysis = analysis_of({"seed_example1.xplane.pb"});
  const std::map<std::string, double> samples =
      samples_of(render_prometheus(analysis.measurements, analysis.diagnosis));
  const Json report = Json::parse(render_json(analysis.measurements, analysis.diagnosis));
  const Json& verdict = report["verdict"];
  const auto sample = [&](const std::string& name) {
    CAPTURE(name);
    REQUIRE(samples.count("tfdata_doctor_" + name) == 1);
    return samples.at("tfdata_doctor_" + name);
  };
  CHECK(sample("up") == 1);
  CHECK(sample("hosts") == 1);
  CHECK(sample("hosts_unreadable") == 0);
  CHECK(sample("verdict{status=\"input_bound\"}") == 1);
  CHECK(sample("verdict{status=\"healthy\"}") == 0);
  CHECK(sample("confidence_ratio") == verdict["confidence"]);
  CHECK(sample("input_share_ratio") == verdict["input_share"]);
  const std::string culprit = verdict["culprit"]["long_name"];
  const std::string dataset = verdict["culprit"]["short_name"];
  CHECK(sample("culprit_share_ratio{iterator=\"" + culprit + "\",dataset=\"" + dataset + "\"}") > 0.9);
  CHECK(sample("window_seconds") * 1e6 == doctest::Approx(report["trace"]["window_us"]));
  CHECK(sample("get_next_seconds{quantile=\"1\"}") * 1e6 ==
        doctest::Approx(report["pipelines"][0]["get_next"]["max_us"]));
  CHECK(sample("findings{rule=\"sequential-map\",severity=\"warning\"}") == 1);
}

TEST_CASE("hosts have labels that stay the same from trace to trace") {
  const Analysis analysis = analysis_of({"guide_naive.xplane.pb", "guide_sequential_map.xplane.pb"});
  std::set<std::string> files;
  for (const auto& [name, value] : samples_of(render_prometheus(analysis.measurements, analysis.diagnosis))) {
    if (!name.starts_with("tfdata_doctor_host_straggler{")) continue;
    files.insert(name.substr(name.find("file=")));
  }
  CHECK(files == std::set<std::string>{"file=\"guide_naive.xplane.pb\"}", "file=\"guide_sequential_map.xplane.pb\"}"});
}

TEST_CASE("where no host could be read there is nothing but that") {
  const Analysis analysis =
      diagnose_files({}, {.rules = all_rules(), .absent = {{"nothing listens there", "a:1", {}, {}}}});
  const std::map<std::string, double> samples =
      samples_of(render_prometheus(analysis.measurements, analysis.diagnosis));
  CHECK(samples.size() == 4);
  CHECK(samples.at("tfdata_doctor_up") == 0);
  CHECK(samples.at("tfdata_doctor_hosts") == 1);
  CHECK(samples.at("tfdata_doctor_hosts_unreadable") == 1);
}

TEST_CASE("a label holds any text") {
  CHECK(escape_for_prometheus("Iterator::Map") == "Iterator::Map");
  CHECK(escape_for_prometheus("a\"b\\c\nx") == R"(a\"b\\c\\x0ax)");
}

}  // namespace doctor::prometheus_test
