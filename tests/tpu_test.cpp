// Devices without streams: which of a TPU's lines are its work, what each op does, and what is said where nobody knows.

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "diagnose/catalog.h"
#include "pipeline.h"
#include "report/report.h"
#include "shown_page.h"
#include "temporary_directory.h"
#include "unwrapped.h"
#include "written_tpu_traces.h"

namespace doctor::tpu_test {
namespace {

using Json = nlohmann::json;

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;
constexpr int kSteps = 40;
constexpr double kStepUs = 1000;

/// A loop that is in GetNext for nine tenths of its time.
SyntheticTrace waiting_loop() {
  SyntheticTrace host;
  for (int step = 0; step < kSteps; ++step) {
    const double start = 100 + step * kStepUs;
    host.add("python", "IteratorGetNextOp::DoCompute", start, 900);
    host.iterator("python", "Iterator::Root", 1, 0, start + 1, 898);
    host.iterator("python", "Iterator::Root::Map", 2, 1, start + 2, 896);
  }
  return host;
}

/// The device works all the time, in the line of this name.
TpuTrace working_device(const std::string& line, const std::string& device = "/device:TPU:0") {
  TpuTrace trace(waiting_loop().to_message());
  trace.on(device);
  for (int step = 0; step < kSteps; ++step) trace.op(100 + step * kStepUs, kStepUs, {}, line);
  return trace;
}

Analysis analyzed(const TpuTrace& trace, bool with_profile = false) {
  const TemporaryDirectory directory;
  const std::vector<std::string> files = {directory.write("tpu.xplane.pb", trace.to_xspace())};
  DiagnosisSetup setup;
  setup.rules = all_rules();
  if (with_profile) setup.needs.profile = ProfileParts();
  return diagnose_files(files, setup);
}

DeviceActivity only_device(const TpuTrace& trace) {
  const Analysis analysis = analyzed(trace);
  const std::vector<DeviceActivity>& devices = analysis.measurements.hosts.at(0).device_profile.devices;
  REQUIRE(devices.size() == 1);
  return devices[0];
}

std::string report_of(const Analysis& analysis) {
  return unwrapped(render_text(analysis.measurements, analysis.diagnosis, {.detail = Detail::full}));
}

TEST_CASE("a TPU that computes while the consumer waits is not idle") {
  for (const std::string line : {"XLA Ops", "Sparse Core Ops"}) {
    CAPTURE(line);
    const Analysis analysis = analyzed(working_device(line));
    CHECK(analysis.diagnosis.judgement.status == VerdictStatus::healthy);
    CHECK(analysis.diagnosis.judgement.pipelines.at(0).input_share < 0.01);
  }
}

TEST_CASE("where there are no ops, programs show when a TPU works") {
  const Analysis analysis = analyzed(working_device("XLA Modules"));
  CHECK(analysis.diagnosis.judgement.status == VerdictStatus::healthy);
}

TEST_CASE("a TPU that waits for its infeed waits for the input") {
  TpuTrace trace(waiting_loop().to_message());
  for (int step = 0; step < kSteps; ++step) {
    const double start = 100 + step * kStepUs;
    trace.op(start, kStepUs, {"while.1", "while", "", "", 0, 0, ""});
    trace.op(start, 900, {"infeed.2", "infeed", "", "", 0, 0, ""});
    trace.op(start + 900, 100, {});
  }
  const Analysis analysis = analyzed(trace);
  CHECK(analysis.diagnosis.judgement.status == VerdictStatus::input_bound);
  CHECK(analysis.diagnosis.judgement.confidence > 0.7);
  CHECK(report_of(analysis).find("waits for its infeed 90") != std::string::npos);
}

TEST_CASE("what each op of a TPU does") {
  TpuTrace trace(SyntheticTrace{}.to_message());
  trace.op(0, 100, {"while.1", "while", "", "", 0, 0, ""});
  trace.op(0, 10, {});
  trace.op(10, 20, {"copy-done.2", "copy-done", "", "", 0, 0, ""});
  trace.op(30, 30, {"infeed", "infeed", "", "", 0, 0, ""});
  trace.op(60, 5, {"outfeed", "outfeed", "", "", 0, 0, ""});
  trace.op(70, 15, {"all-reduce.3", "all-reduce", "", "", 0, 0, ""});
  trace.op(85, 5, {"fusion.9", "convolution fusion", "", "", 0, 0, "bf16[8]"});
  trace.op(0, 1000, {}, "XLA Modules");
  trace.op(0, 500, {}, "Async XLA Ops");
  trace.add("XLA TraceMe", "barrier-cores", 0, 2000).add("Framework Ops", "add", 0, 700);
  const DeviceActivity device = only_device(trace);
  CHECK(device.window == Interval{0, 100 * kUs});
  CHECK(device.busy == 100 * kUs);
  CHECK(device.kernel_count == 3);
  CHECK(device.kernel_sum == 30 * kUs);
  CHECK(device.collectives == 15 * kUs);
  CHECK(device.half_precision == 5 * kUs);
  CHECK(device.copy_wait == 20 * kUs);
  CHECK(device.infeed == 30 * kUs);
  CHECK(device.outfeed == 5 * kUs);
  CHECK(device.computing == std::vector<Interval>{{0, 30 * kUs}, {85 * kUs, 90 * kUs}});
}

TEST_CASE("ops of XLA are no kernels, and the page says where they are") {
  const Analysis analysis = analyzed(working_device("XLA Ops"));
  CHECK(page_rows(kKernelsPage, analysis.measurements).rows.empty());
  CHECK(page_text(kKernelsPage, analysis).find("show ops") != std::string::npos);
}

TEST_CASE("the sparse cores of a TPU are parts of it") {
  TpuTrace trace = working_device("XLA Ops");
  trace.on("/device:TPU:0 SparseCore 1").op(100, 50, {}, "Sparse Core Ops");
  const HostMeasurement host = analyzed(trace).measurements.hosts.at(0);
  CHECK(host.devices == std::vector<std::string>{"/device:TPU:0"});
  CHECK(host.device_profile.devices.size() == 1);
}

TEST_CASE("the table of ops has what the HLO says, and nothing twice") {
  TpuTrace trace(SyntheticTrace{}.to_message());
  trace.op(0, 100, {"while.1", "while", "", "", 0, 0, ""}).op(10, 30, {}).op(50, 30, {});
  const Analysis analysis = analyzed(trace, true);
  const DataTable table = ops_table(analysis.measurements, {});
  REQUIRE(table.rows.size() == 2);
  const auto cell = [&](std::size_t row, const std::string& key) {
    const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                     [&](const auto& candidate) { return candidate.key == key; });
    REQUIRE(column != table.columns.end());
    return table.rows[row][static_cast<std::size_t>(column - table.columns.begin())];
  };
  CHECK(std::get<std::string>(cell(0, "name")) == "fusion.1");
  CHECK(std::get<std::string>(cell(0, "type")) == "loop fusion");
  CHECK(std::get<std::string>(cell(0, "framework_op")) == "jit(step)/jit(main)/add");
  CHECK(std::get<std::string>(cell(0, "source")) == "train.py:37");
  CHECK(std::get<std::int64_t>(cell(0, "flops")) == 2000);
  CHECK(std::get<std::int64_t>(cell(0, "bytes_accessed")) == 8192);
  CHECK(analysis.measurements.hosts[0].profile->ops.ops.at(0).self == 60 * kUs);
  CHECK(analysis.measurements.hosts[0].profile->ops.ops.at(1).self == 40 * kUs);
  CHECK(analysis.measurements.hosts[0].profile->ops.device_time == 100 * kUs);
}

TEST_CASE("without markers and calls a program's runs are the steps") {
  TpuTrace trace(SyntheticTrace{}.to_message());
  for (int step = 0; step < 10; ++step) {
    trace.add("XLA Modules", "jit_step(1)", 1000 * step, 800).add("XLA Modules", "jit_log(2)", 1000 * step + 800, 100);
    trace.op(1000 * step, 800, {});
  }
  const HostMeasurement host = analyzed(trace, true).measurements.hosts.at(0);
  CHECK(host.steps.source == StepSource::programs);
  REQUIRE(host.steps.steps.size() == 10);
  CHECK(host.steps.steps[4].span == Interval{4000 * kUs, 5000 * kUs});
}

TEST_CASE("what each op of a TPU does to a step") {
  TpuTrace trace(SyntheticTrace{}.to_message());
  for (int step = 0; step < 4; ++step) {
    const double start = 1000 * step;
    trace.add("Steps", std::to_string(step), start, 1000);
    trace.op(start, 400, {}).op(start + 400, 200, {"copy-done.1", "copy-done", "", "", 0, 0, ""});
    trace.op(start + 600, 100, {"infeed", "infeed", "", "", 0, 0, ""});
    trace.op(start + 700, 50, {"outfeed", "outfeed", "", "", 0, 0, ""});
    trace.op(start + 750, 30, {"all-gather", "all-gather", "", "", 0, 0, ""});
  }
  const HostMeasurement host = analyzed(trace, true).measurements.hosts.at(0);
  CHECK(host.steps.source == StepSource::markers);
  REQUIRE(host.steps.steps.size() == 4);
  const StepMeasurement& step = host.steps.steps[1];
  CHECK(step[StepPart::device_compute_32] == 400 * kUs);
  CHECK(step[StepPart::copy_wait] == 200 * kUs);
  CHECK(step[StepPart::input] == 100 * kUs);
  CHECK(step[StepPart::output] == 50 * kUs);
  CHECK(step[StepPart::device_to_device] == 30 * kUs);
  CHECK(step[StepPart::other] == 220 * kUs);
}

TEST_CASE("a device whose work is not understood never counts as idle") {
  for (const std::string device : {"/device:TPU:0", "/device:GPU:0", "/device:XPU:0"}) {
    CAPTURE(device);
    TpuTrace trace(waiting_loop().to_message());
    trace.on(device);
    for (int step = 0; step < kSteps; ++step) trace.add("Queue of commands", "run", 100 + step * kStepUs, kStepUs);
    const Analysis analysis = analyzed(trace);
    CHECK(analysis.diagnosis.judgement.confidence < 0.7);
    CHECK(report_of(analysis).find("40 events of") != std::string::npos);
  }
}

TEST_CASE("a device of which nothing was recorded never counts as idle") {
  TpuTrace trace(waiting_loop().to_message());
  trace.on("/device:TPU:0").add("Steps", "1", 0, 1);
  const Analysis analysis = analyzed(trace);
  CHECK(analysis.diagnosis.judgement.confidence < 0.7);
  CHECK(report_of(analysis).find("the trace shows no work of /device:TPU:0") != std::string::npos);
}

TEST_CASE("tracks that tools add beside the devices leave the verdict as it is") {
  TpuTrace trace(waiting_loop().to_message());
  trace.on("/device:CUSTOM:Megascale Trace").add("Steps", "1", 0, 1);
  CHECK(analyzed(trace).diagnosis.judgement.confidence > 0.7);
}

TEST_CASE("nobody is told of CUPTI where the device is not a GPU") {
  const Analysis analysis = analyzed(working_device("Queue of commands"));
  const Json report = Json::parse(render_json(analysis.measurements, analysis.diagnosis));
  bool is_found = false;
  for (const Json& finding : report["findings"]) {
    CHECK(finding.dump().find("CUPTI") == std::string::npos);
    is_found = is_found || finding["rule"] == "devices-not-recorded";
  }
  CHECK(is_found);
}

}  // namespace
}  // namespace doctor::tpu_test
