// Waits that a device works through: recorded traces of hosts with a device beside them.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "diagnose/catalog.h"
#include "gpu_trace.h"
#include "pipeline.h"
#include "report/report.h"
#include "temporary_directory.h"

namespace doctor::exposed_waits_test {
namespace {

using Json = nlohmann::json;

const std::string kTraces = source_dir() + "/testdata/traces/";
/// A sequential map that the job waits for nearly all the time.
const std::string kInputBound = kTraces + "seed_example1.xplane.pb";

Analysis analyzed(const std::string& file) {
  return diagnose_files(std::vector<std::string>{file}, {.rules = all_rules()});
}

Analysis analyzed(const GpuTrace& trace) {
  const TemporaryDirectory directory;
  return analyzed(directory.write("gpu.xplane.pb", trace.to_xspace()));
}

Json report_of(const Analysis& analysis) {
  return Json::parse(render_json(analysis.measurements, analysis.diagnosis));
}

const PipelineMeasurement& pipeline_of(const Analysis& analysis) {
  return analysis.measurements.hosts.at(0).pipelines.at(0);
}

/// The recorded host with a device that computes for a part of each GetNext call, from its start on, and between them.
GpuTrace with_busy_part(double part) {
  const Analysis host = analyzed(kInputBound);
  GpuTrace trace = GpuTrace::over(kInputBound);
  const std::vector<Interval>& calls = pipeline_of(host).calls;
  for (std::size_t index = 0; index < calls.size(); ++index) {
    const double start = to_microseconds(calls[index].start);
    const double length = to_microseconds(calls[index].end) - start;
    if (part > 0) trace.kernel(start, part * length);
    if (index + 1 == calls.size()) break;
    trace.kernel(start + length, to_microseconds(calls[index + 1].start) - start - length);
  }
  return trace;
}

TEST_CASE("the share of a job is that of the waits in which its device computes nothing") {
  const double in_get_next = pipeline_of(analyzed(kInputBound)).cadence.share;
  CHECK(in_get_next > 0.9);
  for (const double part : {0.0, 0.5, 0.9}) {
    CAPTURE(part);
    const Analysis analysis = analyzed(with_busy_part(part));
    const PipelineMeasurement& pipeline = pipeline_of(analysis);
    REQUIRE(pipeline.exposed.has_value());
    CHECK(pipeline.cadence.share == doctest::Approx(in_get_next));
    CHECK(pipeline.input_share() == doctest::Approx(in_get_next * (1 - part)).epsilon(0.02));
  }
}

TEST_CASE("a job whose device is busy throughout is not input-bound, however long GetNext takes") {
  const Analysis analysis = analyzed(with_busy_part(1));
  const Json report = report_of(analysis);
  CHECK(report["verdict"]["status"] == "healthy");
  CHECK(report["verdict"]["input_share"].get<double>() < 0.01);
  CHECK(report["pipelines"][0]["device_idle_share"].get<double>() < 0.01);
  CHECK(report["pipelines"][0]["get_next_share"].get<double>() > 0.9);
  CHECK(report["pipelines"][0]["confidence"]["total"].get<double>() > 0.33);
  for (const Json& finding : report["findings"]) CHECK(finding["severity"] == "note");
}

TEST_CASE("a device that idles while the consumer waits leaves the verdict as it is") {
  const Analysis analysis = analyzed(with_busy_part(0.1));
  const Json report = report_of(analysis);
  CHECK(report["verdict"]["status"] == "input_bound");
  CHECK(report["verdict"]["culprit"]["long_name"] ==
        report_of(analyzed(kInputBound))["verdict"]["culprit"]["long_name"]);
  const std::string text = render_text(analysis.measurements, analysis.diagnosis, {.detail = Detail::full});
  CHECK(text.starts_with("INPUT-BOUND: the device is idle because it waits for data "));
  CHECK(text.find("/device:GPU:0") != std::string::npos);
  CHECK(report["trace"]["device_activity"][0]["device"] == "/device:GPU:0");
  CHECK(report["trace"]["device_activity"][0]["kernel_count"].get<int>() > 0);
}

TEST_CASE("devices of a job work in step: one that computes is enough") {
  GpuTrace trace = with_busy_part(0.5);
  const double half = pipeline_of(analyzed(trace)).input_share();
  const std::vector<Interval> calls = pipeline_of(analyzed(kInputBound)).calls;
  trace.on("/device:GPU:1");
  for (const Interval call : calls) {
    const double length = to_microseconds(call.end - call.start);
    trace.kernel(to_microseconds(call.start) + length / 2, length / 4);
  }
  CHECK(pipeline_of(analyzed(trace)).input_share() == doctest::Approx(half / 2).epsilon(0.05));
}

TEST_CASE("without kernels nothing is said to be hidden") {
  GpuTrace trace = GpuTrace::over(kInputBound);
  trace.copy("H2D", 0, 1e9, 4);
  const Analysis analysis = analyzed(trace);
  CHECK_FALSE(pipeline_of(analysis).exposed.has_value());
  CHECK(report_of(analysis)["verdict"]["status"] == "input_bound");
  CHECK_FALSE(report_of(analysis)["pipelines"][0].contains("device_idle_share"));
}

TEST_CASE("a trace of a host says nothing of devices") {
  const Json report = report_of(analyzed(kInputBound));
  CHECK_FALSE(report["trace"].contains("device_activity"));
  CHECK_FALSE(report["pipelines"][0].contains("device_idle_share"));
  for (const Json& entry : report["not_evaluated"]) {
    if (entry["rule"] == "device-idle-for-input") CHECK(entry["reason"] == "the trace shows no device");
  }
}

}  // namespace
}  // namespace doctor::exposed_waits_test
