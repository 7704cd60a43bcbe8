// Several hosts of one run: which of them waits longer than the others, in the comparison, the rule and the reports.

#include "diagnose/host_comparison.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "diagnose/catalog.h"
#include "diagnose/diagnose.h"
#include "measured_pipeline.h"
#include "pipeline.h"
#include "report/report.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"

namespace doctor::host_comparison_test {
namespace {

using Json = nlohmann::ordered_json;

/// A host by how long its calls are on average, in microseconds, and by their share of the time.
struct Host {
  std::string name;
  double wait_us;
  double share;
};

Measurements run_of(const std::vector<Host>& hosts) {
  Measurements run;
  for (const Host& host : hosts) {
    MeasuredPipeline pipeline =
        MeasuredPipeline({"Root", "Prefetch", "BatchV2", "Map", "TFRecord"}).waits_for("Map", 0.9, host.share);
    pipeline.pipeline().trimmed_mean = std::llround(host.wait_us * 1e6);
    pipeline.host().hosts = {host.name};
    pipeline.host().files = {{host.name + ".xplane.pb", "xspace", 1}};
    run.hosts.push_back(pipeline.host());
  }
  return run;
}

/// The same machine, recorded so often, a window of a second every ten seconds.
Measurements windows_of(std::vector<Host> windows, std::int64_t pause_s = 10) {
  for (Host& window : windows) window.name = "host-1";
  Measurements run = run_of(windows);
  std::int64_t start = 1'700'000'000'000'000'000;
  for (HostMeasurement& window : run.hosts) {
    window.recorded_ns = start;
    window.window = kPicosecondsPerSecond;
    start += pause_s * 1'000'000'000;
  }
  return run;
}

std::vector<Finding> straggling(const Measurements& run, const ThresholdSettings& settings = {}) {
  std::vector<Finding> findings = diagnose(run, all_rules(), settings).findings;
  std::erase_if(findings, [](const Finding& finding) { return finding.rule != "straggling-host"; });
  return findings;
}

std::string why_not(const Measurements& run) {
  for (const NotEvaluated& rule : diagnose(run, all_rules(), {}).not_evaluated) {
    if (rule.rule == "straggling-host") return rule.reason;
  }
  return {};
}

std::string description(const std::vector<Host>& hosts) {
  return describe_comparison(diagnose(run_of(hosts), all_rules(), {}).hosts);
}

/// Twelve steps of a host that waits for each element and then for the others of its job.
SyntheticTrace steps_of(double wait_us, double offset_us = 0) {
  SyntheticTrace trace;
  for (int step = 0; step < 12; ++step) {
    const double start = offset_us + step * 20'000;
    trace.add("main", "IteratorGetNextOp::DoCompute", start, wait_us);
    trace.iterator("main", "Iterator::Root", 1, 0, start + 1, wait_us - 2);
    trace.iterator("main", "Iterator::Root::Map", 2, 1, start + 2, wait_us - 4);
  }
  return trace;
}

struct Written {
  Json page;
  std::string text;
};

Written report_on(const std::vector<SyntheticTrace>& hosts) {
  const TemporaryDirectory folder;
  std::vector<std::string> files;
  for (std::size_t index = 0; index < hosts.size(); ++index) {
    xspace::XSpace space = hosts[index].to_message();
    space.set_hostnames(0, fmt::format("worker-{}", index));
    files.push_back(folder.write(fmt::format("{}.xplane.pb", index), space.SerializeAsString()));
  }
  const Analysis analysis = diagnose_files(files, {.rules = all_rules()});
  Json page = Json::parse(render_json(analysis.measurements, analysis.diagnosis));
  page["trace"].erase("files");
  return {page, render_text(analysis.measurements, analysis.diagnosis, {.detail = Detail::full})};
}

}  // namespace

TEST_CASE("a host that waits much longer than the others is the straggler") {
  const Measurements run = run_of({{"a", 1'000, 0.05}, {"b", 900, 0.04}, {"c", 9'000, 0.45}, {"d", 1'100, 0.06}});
  const std::vector<Finding> findings = straggling(run);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].subject == "c");
  CHECK(findings[0].severity == Severity::warning);
  CHECK(findings[0].message ==
        "This host waits 9.00 ms in a GetNext call, the median of the other hosts is 1.00 ms; in synchronous training "
        "the "
        "whole job waits for it in every step (it waits for Dataset.map)");
  CHECK(findings[0].at_stake == 80 * kPicosecondsPerMillisecond);
  const HostComparison comparison = diagnose(run, all_rules(), {}).hosts;
  REQUIRE(comparison.hosts.size() == 4);
  CHECK(comparison.hosts[0].name == "c");
  CHECK(comparison.hosts[1].name == "d");
  CHECK(comparison.hosts[3].name == "b");
  CHECK(comparison.hosts[0].mean_wait_of_others == kPicosecondsPerMillisecond);
  CHECK(comparison.hosts[0].input_share_of_others == doctest::Approx(0.05));
}

TEST_CASE("a straggler that is not input-bound is a note") {
  const std::vector<Finding> findings = straggling(run_of({{"a", 100, 0.01}, {"b", 100, 0.01}, {"c", 900, 0.15}}));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].severity == Severity::note);
}

TEST_CASE("hosts that wait alike have no straggler") {
  CHECK(straggling(run_of({{"a", 9'000, 0.5}, {"b", 8'000, 0.45}, {"c", 10'000, 0.55}})).empty());
  CHECK(straggling(run_of({{"a", 100, 0.01}, {"b", 10, 0.001}, {"c", 10, 0.001}})).empty());
  CHECK(description({{"a", 9'000, 0.5}, {"b", 8'000, 0.45}}) == "the 2 hosts wait alike");
  CHECK(description({{"a", 100, 0.01}, {"b", 100, 0.01}}) == "the 2 hosts wait alike");
}

TEST_CASE("the comparison in words") {
  CHECK(description({{"a", 1'000, 0.05}, {"b", 9'000, 0.45}}) ==
        "b is the slower of two hosts: it waits 9.0 times as long");
  CHECK(description({{"a", 1'000, 0.05}, {"b", 9'000, 0.45}, {"c", 1'000, 0.05}}) ==
        "2 of 3 hosts wait alike; b is the straggler: it waits 9.0 times as long as the median of the 2 other hosts");
  CHECK(description({{"a", 1'000, 0.05}, {"b", 9'000, 0.45}, {"c", 1'000, 0.05}, {"d", 8'000, 0.4}}) ==
        "2 of 4 hosts wait much longer than the others");
  CHECK(description({{"a", 9'000, 0.45}, {"b", 9'000, 0.45}, {"c", 9'000, 0.45}, {"d", 100, 0.01}}) ==
        "3 of 4 hosts are input-bound, none stands out");
  CHECK(description({{"a", 0, 0}, {"b", 9'000, 0.45}}) ==
        "b is the slower of two hosts: it waits over 1,000 times as long");
  CHECK(description({{"a", 9'000, 0.45}}).empty());
}

TEST_CASE("each threshold of the straggler decides") {
  const auto fires = [](double wait_us, double share, const ThresholdSettings& settings) {
    return !straggling(run_of({{"a", 1'000, 0.25}, {"b", wait_us, share}, {"c", 1'000, 0.25}}), settings).empty();
  };
  for (const double ratio : {1.5, 2.0, 6.0}) {
    const ThresholdSettings set = {{"straggling-host", {{"min_ratio", ratio}}}};
    CHECK(fires(ratio * 1'000, 0.6, set));
    CHECK_FALSE(fires(ratio * 1'000 - 1, 0.6, set));
  }
  for (const double above : {0.05, 0.1, 0.3}) {
    const ThresholdSettings set = {{"straggling-host", {{"min_share_above", above}}}};
    CHECK(fires(9'000, 0.2501 + above, set));
    CHECK_FALSE(fires(9'000, 0.2499 + above, set));
  }
}

TEST_CASE("hosts whose calls tell nothing are not compared") {
  Measurements run = run_of({{"a", 1'000, 0.05}, {"b", 9'000, 0.45}});
  run.hosts[0].pipelines[0].has_cadence = false;
  CHECK(why_not(run) == "the calls of fewer than two hosts can be compared");
  CHECK(why_not(run_of({{"a", 9'000, 0.45}})) == "");  // nothing is missing
  run = run_of({{"a", 1'000, 0.05}, {"b", 9'000, 0.45}, {"c", 1'000, 0.05}});
  run.hosts[0].pipelines.clear();
  REQUIRE(straggling(run).size() == 1);
  CHECK(diagnose(run, all_rules(), {}).hosts.hosts.back().name == "a");
  // What only feeds another pipeline is no host's wait.
  run = run_of({{"a", 1'000, 0.05}, {"b", 9'000, 0.45}});
  run.hosts[1].pipelines[0].feeds_another = true;
  CHECK(straggling(run).empty());
}

TEST_CASE("hosts of one name are told apart by their files") {
  Measurements run = run_of({{"vm", 1'000, 0.05}, {"vm", 9'000, 0.45}});
  run.hosts[1].files[0].path = "other.xplane.pb";
  REQUIRE(straggling(run).size() == 1);
  CHECK(straggling(run)[0].subject == "vm (other.xplane.pb)");
}

TEST_CASE("the reports compare hosts") {
  const Written report = report_on({steps_of(1'000), steps_of(9'000), steps_of(1'100)});
  const Json& hosts = report.page["hosts_compared"];
  REQUIRE(hosts.size() == 3);
  CHECK(hosts[0]["host"] == "worker-1");
  CHECK(hosts[0]["status"] == "straggler");
  CHECK(hosts[0]["culprit"] == "Iterator::Root::Map");
  CHECK(hosts[0]["get_next_mean_us"] == 9'000.0);
  CHECK(hosts[0]["input_share"].get<double>() == doctest::Approx(0.45));
  CHECK(hosts[2]["status"] == "alike");
  CHECK(report.text.find("  Hosts   worker-1  waits 45% of the time, 9.00 ms a batch, Dataset.map\n"
                         "          worker-2  waits 5.5% of the time, 1.10 ms a batch") != std::string::npos);
  CHECK(report.text.find("2 of 3 hosts wait alike; worker-1 is the straggler") != std::string::npos);
  CHECK(report.text.find("  Others ") == std::string::npos);

  const Written alone = report_on({steps_of(9'000)});
  CHECK(alone.page["hosts_compared"] == Json::array());
  CHECK(alone.text.find("  Hosts ") == std::string::npos);
}

TEST_CASE("at most eight hosts are listed, worst first") {
  std::vector<SyntheticTrace> run;
  run.reserve(11);
  for (int host = 0; host < 11; ++host) run.push_back(steps_of(5'000 + 100 * host));
  const Written report = report_on(run);
  CHECK(report.page["hosts_compared"].size() == 11);
  CHECK(report.text.find("Hosts   worker-10  ") != std::string::npos);
  CHECK(report.text.find("worker-3 ") != std::string::npos);
  CHECK(report.text.find("worker-2 ") == std::string::npos);
  CHECK(report.text.find("3 more hosts") != std::string::npos);
  CHECK(report.text.find("the 11 hosts wait alike") != std::string::npos);
}

TEST_CASE("windows of one host are no hosts, and none of them is a straggler") {
  const std::vector<Host> waits = {{"", 100, 0.01}, {"", 100, 0.01}, {"", 5'000, 0.9}};
  const Measurements windows = windows_of(waits);
  CHECK(are_windows_of_one_host(windows));
  CHECK(straggling(windows).empty());
  CHECK(why_not(windows) == "the traces are windows of one host");
  CHECK(describe_comparison(diagnose(windows, all_rules(), {}).hosts) ==
        "1 of 3 windows are input-bound, none stands out");
  // Recorded at the same time they are processes of one run.
  CHECK(straggling(windows_of(waits, 0)).size() == 1);
  Measurements other_machine = windows;
  other_machine.hosts[1].hosts = {"host-2"};
  CHECK(straggling(other_machine).size() == 1);
  Measurements timeless = windows;
  timeless.hosts[1].recorded_ns = 0;
  CHECK_FALSE(are_windows_of_one_host(timeless));
}

TEST_CASE("clocks of hosts that disagree change nothing") {
  constexpr double kHour = 3'600e6;
  const Written expected = report_on({steps_of(1'000), steps_of(9'000), steps_of(1'100)});
  for (const double shift : {kHour, -kHour}) {
    const Written shifted = report_on({steps_of(1'000), steps_of(9'000, shift), steps_of(1'100)});
    CHECK(shifted.page == expected.page);
    CHECK(shifted.text.substr(0, shifted.text.find("more")) == expected.text.substr(0, expected.text.find("more")));
  }
}

}  // namespace doctor::host_comparison_test
