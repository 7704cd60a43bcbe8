// `show hosts`: a row for each host, and what the cores of the run wait in each step.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "gpu_trace.h"
#include "measure/devices/device_balance.h"
#include "measure/steps/step_table.h"
#include "run_tool.h"
#include "shown_page.h"
#include "temporary_directory.h"

namespace doctor::hosts_page_test {
namespace {

using Json = nlohmann::json;

/// Twelve marked steps of 20 ms that begin with a wait; numbers from `first`.
SyntheticTrace steps_of(double wait_us, std::int64_t first = 0) {
  SyntheticTrace trace;
  for (int step = 0; step < 12; ++step) {
    const double start = 100 + step * 20'000;
    trace.add("main", "train", start, 19'000).ids["step_num"] = static_cast<std::uint64_t>(first + step);
    trace.add("main", "IteratorGetNextOp::DoCompute", start, wait_us);
    trace.iterator("main", "Iterator::Root", 1, 0, start + 1, wait_us - 2);
    trace.iterator("main", "Iterator::Root::Map", 2, 1, start + 2, wait_us - 4);
  }
  return trace;
}

std::string on_machine(const std::string& machine, xspace::XSpace space) {
  space.set_hostnames(0, machine);
  return space.SerializeAsString();
}

/// The page on files with these bytes.
Json page_on(const std::vector<std::string>& traces, std::vector<std::string> options = {"--format", "json"}) {
  const TemporaryDirectory folder;
  std::vector<std::string> command = {"show", "hosts"};
  command.insert(command.end(), options.begin(), options.end());
  for (std::size_t index = 0; index < traces.size(); ++index) {
    command.push_back(folder.write(fmt::format("{}.xplane.pb", index), traces[index]));
  }
  const Ended ended = run_tool(command);
  CHECK_MESSAGE(ended.code == 0, ended.errors);
  return Json::parse(ended.output);
}

Json page_of_three(std::vector<std::string> options = {"--format", "json"}) {
  return page_on({on_machine("a", steps_of(1'000).to_message()), on_machine("b", steps_of(9'000).to_message()),
                  on_machine("c", steps_of(1'100).to_message())},
                 std::move(options));
}

/// Two GPUs of which the second computes during the first half of each wait.
GpuTrace two_devices() {
  GpuTrace trace(steps_of(8'000).to_message());
  for (int step = 0; step < 12; ++step) {
    const double start = 100 + step * 20'000;
    trace.on("/device:GPU:0").kernel(start + 10'000, 5'000);
    trace.on("/device:GPU:1").kernel(start, 4'000).kernel(start + 10'000, 5'000);
  }
  return trace;
}

TEST_CASE("a row for each host, the one that waits most first") {
  const Json page = page_of_three();
  CHECK(page["schema"] == "tfdata-doctor.hosts/1");
  CHECK(page["comparison"] ==
        "2 of 3 hosts wait alike; b is the straggler: it waits 8.6 times as long as the median of the 2 other hosts");
  REQUIRE(page["rows"].size() == 3);
  const Json& straggler = page["rows"][0];
  CHECK(straggler["host"] == "b");
  CHECK(straggler["input_share"].get<double>() == doctest::Approx(0.45));
  CHECK(straggler["waited_us"] == 12 * 9'000.0);
  CHECK(straggler["mean_wait_us"] == 9'000.0);
  CHECK(straggler["get_next_calls"] == 12);
  CHECK(straggler["step_us"] == 19'000.0);
  CHECK(straggler["steps"] == 10);  // without the first and the last
  CHECK(straggler["device_idle_share"].is_null());
  CHECK(straggler["devices"] == 0);
  CHECK(straggler["status"] == "straggler");
  CHECK(straggler["culprit"] == "Dataset.map");
  CHECK(straggler["culprit_long_name"] == "Iterator::Root::Map");
  CHECK(straggler["confidence"].get<double>() > 0.5);
  CHECK(page["rows"][1]["status"] == "alike");
  CHECK(page["rows"][2]["host"] == "a");
}

TEST_CASE("one host has a row too") {
  const Json page = page_on({on_machine("a", steps_of(9'000).to_message())});
  REQUIRE(page["rows"].size() == 1);
  CHECK(page["comparison"].is_null());
  CHECK(page["rows"][0]["status"] == "not_compared");
  CHECK(page["rows"][0]["culprit"] == "Dataset.map");
  CHECK(page["steps"][0]["cores"] == 1);
}

TEST_CASE("the waits of a step have their range over the hosts") {
  const Json steps = page_of_three()["steps"];
  REQUIRE(steps.size() == 12);
  CHECK(steps[3]["step"] == 3);
  CHECK(steps[3]["cores"] == 3);
  CHECK(steps[3]["duration_min_us"] == 19'000.0);
  CHECK(steps[3]["input_min_us"] == 1'000.0);
  CHECK(steps[3]["input_average_us"] == 3'700.0);
  CHECK(steps[3]["input_max_us"] == 9'000.0);
  CHECK(steps[3]["most_input_on"] == "b");
  CHECK(steps[0]["counted"] == false);
  CHECK(steps[3]["counted"] == true);
}

TEST_CASE("only steps of one number are one step") {
  const Json steps = page_on(
      {on_machine("a", steps_of(1'000).to_message()), on_machine("b", steps_of(9'000, 10).to_message())})["steps"];
  REQUIRE(steps.size() == 22);
  CHECK(steps[9]["cores"] == 1);
  CHECK(steps[10]["cores"] == 2);
  CHECK(steps[10]["input_max_us"] == 9'000.0);
  CHECK(steps[12]["cores"] == 1);
}

TEST_CASE("of a host with several devices at work each is a core") {
  const Json page = page_on({on_machine("a", two_devices().to_message())});
  CHECK(page["rows"][0]["devices"] == 2);
  CHECK(page["rows"][0]["device_idle_share"].get<double>() > 0.5);
  const Json& step = page["steps"][5];
  CHECK(step["cores"] == 2);
  CHECK(step["input_min_us"] == 4'000.0);
  CHECK(step["input_max_us"] == 8'000.0);
  CHECK(step["most_input_on"] == "a /device:GPU:0");
}

TEST_CASE("the step of a device ends with what was launched on it") {
  GpuTrace trace = two_devices();
  for (int step = 0; step < 12; ++step) {
    const double start = 100 + step * 20'000;
    // The profiler's own count, which is not the host's number.
    trace.on("/device:GPU:0").step(step + 3, "train " + std::to_string(step), start + 10'000, 5'000);
    trace.on("/device:GPU:1").step(step + 3, "train " + std::to_string(step), start, 18'000);
  }
  const Json step = page_on({on_machine("a", trace.to_message())})["steps"][5];
  CHECK(step["step"] == 5);
  CHECK(step["duration_min_us"] == 15'000.0);
  CHECK(step["duration_max_us"] == 18'000.0);
  CHECK(step["input_min_us"] == 4'000.0);
  CHECK(step["input_max_us"] == 8'000.0);
}

TEST_CASE("without markers of the host a step is where its device shows it") {
  SyntheticTrace host;
  host.add("main", "MatMul:MatMul", 100, 9'000);
  GpuTrace trace(host.to_message());
  trace.on("/device:GPU:0").kernel(100, 1'000).step(7, 100, 1'000);
  trace.on("/device:GPU:1").kernel(5'000, 3'000).step(7, 5'000, 3'000);
  const Json steps = page_on({on_machine("a", trace.to_message())})["steps"];
  REQUIRE(steps.size() == 1);
  CHECK(steps[0]["duration_min_us"] == 1'000.0);
  CHECK(steps[0]["duration_average_us"] == 2'000.0);
  CHECK(steps[0]["duration_max_us"] == 3'000.0);
}

TEST_CASE("the profiler's own numbers of two hosts are not the same steps") {
  SyntheticTrace host;
  host.add("main", "MatMul:MatMul", 100, 2'000);
  GpuTrace trace(host.to_message());
  trace.kernel(100, 1'000).step(7, 100, 1'000);
  CHECK(page_on({on_machine("a", trace.to_message())})["steps"].size() == 1);
  CHECK(page_on({on_machine("a", trace.to_message()), on_machine("b", trace.to_message())})["steps"].empty());
}

TEST_CASE("a cadence has no numbers that others share") {
  Measurements run;
  HostMeasurement& host = run.hosts.emplace_back();
  host.pipelines.emplace_back().calls = {{0, 10}, {100, 110}, {200, 210}};
  host.steps = measure_steps(host);
  CHECK(host.steps.source == StepSource::cadence);
  CHECK(measure_steps_on_cores(run).empty());
  CHECK(page_text(kHostsPage, run, {}, {.by_step = true}).starts_with("no steps in common"));
}

TEST_CASE("windows of one host have no step in common") {
  const std::string folder = source_dir() + "/testdata/compare/slower-decode/base";
  const Json page = Json::parse(run_tool({"show", "hosts", "--format", "json", folder}).output);
  CHECK(page["comparison"] == "the 5 windows wait alike");
  CHECK(page["rows"].size() == 5);
  CHECK(page["steps"].empty());
}

TEST_CASE("rows are chosen in both tables, and sorted by a column of the hosts") {
  const Json page = page_of_three({"--format", "json", "--top", "2", "--sort", "host"});
  REQUIRE(page["rows"].size() == 2);
  CHECK(page["rows"][0]["host"] == "a");
  CHECK(page["steps"].size() == 2);
  CHECK(page["steps"][0]["step"] == 0);
  const Json by_step = page_of_three({"--format", "json", "--by-step", "--top", "1", "--sort", "input_max_us"});
  CHECK(by_step["rows"].size() == 1);
  CHECK(by_step["rows"][0]["input_max_us"] == 9'000.0);
}

TEST_CASE("CSV has one of the tables, text both") {
  const TemporaryDirectory folder;
  const std::string a = folder.write("a.xplane.pb", on_machine("a", steps_of(1'000).to_message()));
  const std::string b = folder.write("b.xplane.pb", on_machine("b", steps_of(9'000).to_message()));
  CHECK(run_tool({"show", "hosts", "--format", "csv", a, b}).output.starts_with("host,input_share,waited_us,"));
  CHECK(run_tool({"show", "hosts", "--format", "csv", "--by-step", a, b}).output.starts_with("step,cores,"));
  const std::string text = run_tool({"show", "hosts", a, b}).output;
  CHECK(text.find("b is the slower of two hosts") != std::string::npos);
  CHECK(text.find("straggler") != std::string::npos);
  CHECK(text.find("each step on all its cores") != std::string::npos);
  // One core has no range.
  CHECK(run_tool({"show", "hosts", a}).output.find("each step") == std::string::npos);
  CHECK(run_tool({"show", "hosts", "--by-step", a}).output.find("each step") != std::string::npos);
}

}  // namespace
}  // namespace doctor::hosts_page_test
