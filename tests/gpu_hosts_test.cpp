// Training on a GPU as TensorFlow 2.4 to 2.10 records it: the profiler's own count of steps beside the host's numbers,
// ops in annotations, calls of the driver on the host; and the same run as TensorFlow itself writes it for Chrome.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "diagnose/catalog.h"
#include "gpu_trace.h"
#include "measure/steps/step_table.h"
#include "pipeline.h"
#include "profile/op_statistics.h"
#include "report/report.h"
#include "temporary_directory.h"

namespace doctor::gpu_hosts_test {
namespace {

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;

/// Steps of 1,000 us on the host. Of each the device computes 300 us in ten kernels with pauses between them, in which
/// the host launches the next one; the steps differ, so that a mix-up shows in every number.
struct GpuLoop {
  int steps = 12;
  std::int64_t first_number = 500;  ///< of the host's markers
  std::int64_t first_group = 1;     ///< the profiler's own count
  std::string op_argument = "annotation";
  bool has_launches = true;  ///< the host's calls of the driver, within ops

  double start(int step) const { return 100 + 1000.0 * step + 10 * step * step; }
  double length(int step) const { return 950 + 20 * step; }
  GpuTrace to_trace() const;
};

GpuTrace GpuLoop::to_trace() const {
  SyntheticTrace host;
  for (int step = 0; step < steps; ++step) {
    SyntheticTrace::Event& marker = host.add("python", "TraceContext", start(step), length(step));
    marker.ids = {{"step_num", static_cast<std::uint64_t>(first_number + step)},
                  {"group_id", static_cast<std::uint64_t>(first_group + step)}};
    marker.texts["graph_type"] = "train";
    host.add("get_next", "IteratorGetNextOp::DoCompute", start(step) + 10, 20);
    host.iterator("get_next", "Iterator::Root", 1, 0, start(step) + 11, 18);
    host.iterator("get_next", "Iterator::Root::Prefetch", 2, 1, start(step) + 12, 16);
    host.iterator("producer", "Iterator::Root::Prefetch::BatchV2", 3, 2, start(step) + 13, 14);
    host.add("worker", "ExecutorState::Process", start(step) + 40, 800).ids["id"] = 77;
    for (std::uint64_t kernel = 0; has_launches && kernel < 10; ++kernel) {
      const double launch = start(step) + 50 + 60 * static_cast<double>(kernel);
      host.add("worker", fmt::format("layer_{}/MatMul:MatMul", kernel), launch, 8);
      host.add("worker", "cuLaunchKernel", launch + 1, 5).ids["correlation_id"] =
          100 * (static_cast<std::uint64_t>(step) + 1) + kernel;
    }
  }
  GpuTrace trace(host.to_message());
  for (int step = 0; step < steps; ++step) {
    for (std::uint64_t kernel = 0; kernel < 10; ++kernel) {
      GpuTrace::Kernel written;
      written.name = kernel < 5 ? "volta_sgemm_128x64_nn" : "turing_fp16_s1688gemm_fp16_128x128_nn";
      if (!op_argument.empty()) written.op = fmt::format("layer_{}/MatMul:MatMul", kernel);
      written.op_argument = op_argument.empty() ? "tf_op" : op_argument;
      written.correlation = 100 * (static_cast<std::uint64_t>(step) + 1) + kernel;
      trace.kernel(start(step) + 60 + 60 * static_cast<double>(kernel), 30, written, "13(Compute)");
    }
    trace.step(first_group + step, fmt::format("train {}", first_number + step), start(step) + 60, 570);
  }
  return trace;
}

/// Ops are shown by their type, iterators by their last dataset.
std::string short_name_of(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string::npos) return name;
  if (name[colon - 1] != ':') return name.substr(colon + 1);
  return name.starts_with("Iterator::") ? "Iterator::" + name.substr(colon + 1) : name;
}

/// As TensorFlow of those versions writes trace.json.gz: nothing of how kernels were launched, events without a length
/// left out, ops by their type with the name beside.
std::string as_tensorflow_json(const xspace::XSpace& space) {
  nlohmann::json events = nlohmann::json::array();
  int process = 0;
  for (const xspace::XPlane& plane : space.planes()) {
    ++process;
    events.push_back({{"ph", "M"}, {"pid", process}, {"name", "process_name"}, {"args", {{"name", plane.name()}}}});
    for (const xspace::XLine& line : plane.lines()) {
      const std::int64_t thread = line.id() & 0xffff'ffff;
      events.push_back({{"ph", "M"}, {"pid", process}, {"tid", thread}, {"name", "thread_name"}});
      events.back()["args"]["name"] = line.name();
      for (const xspace::XEvent& event : line.events()) {
        if (event.duration_ps() == 0) continue;
        const std::string& name = plane.event_metadata().at(event.metadata_id()).name();
        nlohmann::json arguments = nlohmann::json::object();
        for (const xspace::XStat& stat : event.stats()) {
          const std::string& key = plane.stat_metadata().at(stat.metadata_id()).name();
          if (key == "kernel_details" || key == "level 0") continue;
          const bool is_text = stat.value_case() == xspace::XStat::kRefValue;
          const bool is_unsigned = stat.value_case() == xspace::XStat::kUint64Value;
          arguments[key] =
              is_text ? plane.stat_metadata().at(static_cast<std::int64_t>(stat.ref_value())).name()
                      : (is_unsigned ? std::to_string(stat.uint64_value()) : std::to_string(stat.int64_value()));
        }
        const std::string shown = short_name_of(name);
        if (shown != name) arguments["long_name"] = name;
        events.push_back({{"ph", "X"}, {"pid", process}, {"tid", thread}, {"name", shown}, {"args", arguments}});
        events.back()["ts"] = static_cast<double>(event.offset_ps()) / 1e6;
        events.back()["dur"] = static_cast<double>(event.duration_ps()) / 1e6;
      }
    }
  }
  return nlohmann::json{{"displayTimeUnit", "ns"}, {"traceEvents", events}}.dump();
}

Analysis analyzed(const std::string& bytes, bool is_json = false) {
  const TemporaryDirectory directory;
  const std::vector<std::string> files = {directory.write(is_json ? "gpu.trace.json" : "gpu.xplane.pb", bytes)};
  DiagnosisSetup setup;
  setup.rules = all_rules();
  setup.needs.profile = ProfileParts();
  return diagnose_files(files, setup);
}

Analysis analyzed(const GpuTrace& trace) {
  return analyzed(trace.to_xspace());
}

const HostMeasurement& host_of(const Analysis& analysis) {
  return analysis.measurements.hosts.at(0);
}

StepSummary steps_of(const Analysis& analysis) {
  return summarize_steps({&host_of(analysis).steps, 1});
}

double part_us(const StepSummary& summary, StepPart part) {
  return summary.parts[static_cast<std::size_t>(part)] / 1e6;
}

/// The report without the file, whose size and name are others.
nlohmann::json report_of(const Analysis& analysis) {
  nlohmann::json report = nlohmann::json::parse(render_json(analysis.measurements, analysis.diagnosis));
  report.erase("trace");
  for (nlohmann::json& device : report["devices"]) device.erase("host");
  return report;
}

std::vector<std::pair<std::string, Picoseconds>> device_ops_of(const Analysis& analysis) {
  std::vector<std::pair<std::string, Picoseconds>> ops;
  for (const OpStatistics& op : host_of(analysis).profile->ops.ops) {
    if (op.is_on_device) ops.emplace_back(op.name + ":" + op.type, op.total);
  }
  return ops;
}

TEST_CASE("the average step is that of the host's markers, whatever numbers these have") {
  const nlohmann::json expected = report_of(analyzed(GpuLoop().to_trace()));
  for (const std::int64_t first_number : {500, 20, 6, 2, 1, 0}) {
    CAPTURE(first_number);
    GpuLoop loop;
    loop.first_number = first_number;
    const Analysis analysis = analyzed(loop.to_trace());
    const StepSummary summary = steps_of(analysis);
    CHECK(summary.count == 10);
    double mean = 0;
    for (int step = 1; step < 11; ++step) mean += loop.length(step) / 10;
    CHECK(summary.average / 1e6 == doctest::Approx(mean));
    CHECK(part_us(summary, StepPart::device_compute_16) == doctest::Approx(150));
    CHECK(part_us(summary, StepPart::device_compute_32) == doctest::Approx(150));
    CHECK(host_of(analysis).steps.steps[3].number == first_number + 3);
    CHECK(report_of(analysis) == expected);
  }
}

TEST_CASE("the order of planes and of their lines changes nothing") {
  const nlohmann::json expected = report_of(analyzed(GpuLoop().to_trace()));
  for (const bool names_ops : {true, false}) {
    GpuLoop loop;
    if (!names_ops) loop.op_argument.clear();
    xspace::XSpace space = loop.to_trace().to_message();
    std::reverse(space.mutable_planes()->pointer_begin(), space.mutable_planes()->pointer_end());
    for (xspace::XPlane& plane : *space.mutable_planes()) {
      std::reverse(plane.mutable_lines()->pointer_begin(), plane.mutable_lines()->pointer_end());
    }
    CHECK(report_of(analyzed(space.SerializeAsString())) == expected);
  }
}

TEST_CASE("kernels have their ops, by any argument and by the call of the driver that launched them") {
  const auto expected = device_ops_of(analyzed(GpuLoop().to_trace()));
  REQUIRE(expected.size() == 10);
  CHECK(expected[0].first == "layer_0/MatMul:MatMul");
  CHECK(expected[0].second == 12 * 30 * kUs);
  for (const std::string argument : {"tf_op", "level 0", "kernel_annotation", ""}) {
    CAPTURE(argument);
    GpuLoop loop;
    loop.op_argument = argument;
    const Analysis analysis = analyzed(loop.to_trace());
    CHECK(device_ops_of(analysis) == expected);
    const DeviceActivity& device = host_of(analysis).device_profile.devices.at(0);
    CHECK(device.of_named_ops == device.kernel_sum);
    CHECK(device.tensor_core_eligible == device.kernel_sum);
    CHECK(device.on_tensor_cores == device.kernel_sum / 2);
  }
  GpuLoop loop;
  loop.op_argument.clear();
  loop.has_launches = false;
  CHECK(device_ops_of(analyzed(loop.to_trace())).empty());
}

TEST_CASE("the outermost annotation is the op, without what was added to it") {
  const auto op_of = [](const std::string& annotation) {
    GpuTrace trace(SyntheticTrace{}.to_message());
    trace.kernel(0, 10, {"kernel", annotation, "regs:1", {}, "annotation", 0});
    return host_of(analyzed(trace)).device_profile.kernels.at(0).op_name;
  };
  CHECK(op_of("Adam/add:AddV2") == "Adam/add");
  CHECK(op_of("IteratorGetNext/_2:_Recv#from=IteratorGetNext,to=Cast#::#edge_name=edge_25#") == "IteratorGetNext/_2");
  CHECK(op_of("f/Call:PartitionedCall::g/Mul:Mul") == "f/Call");
  CHECK(op_of("#edge_name=copy#").empty());
}

TEST_CASE("XSpace and TensorFlow's own JSON of one run say the same") {
  const GpuTrace trace = GpuLoop().to_trace();
  const Analysis expected = analyzed(trace);
  const Analysis analysis = analyzed(as_tensorflow_json(trace.to_message()), true);
  CHECK(host_of(analysis).device_profile.devices.at(0).kernel_count == 120);
  CHECK(device_ops_of(analysis) == device_ops_of(expected));
  CHECK(steps_of(analysis).average == doctest::Approx(steps_of(expected).average));
  CHECK(steps_of(analysis).parts == steps_of(expected).parts);
  nlohmann::json report = report_of(analysis);
  nlohmann::json expected_report = report_of(expected);
  for (const std::string part : {"verdict", "findings", "devices"}) CHECK(report[part] == expected_report[part]);
}

TEST_CASE("the host launches in the gaps of the device: the overview and the rule have one number") {
  const Analysis analysis = analyzed(GpuLoop().to_trace());
  const StepSummary summary = steps_of(analysis);
  // 40 to 840 us of each step, less ten kernels of 30.
  CHECK(part_us(summary, StepPart::kernel_launch) == doctest::Approx(500));
  const std::vector<Finding>& findings = analysis.diagnosis.findings;
  const auto launches = std::find_if(findings.begin(), findings.end(),
                                     [](const Finding& finding) { return finding.rule == "kernel-launch-bound"; });
  REQUIRE(launches != findings.end());
  CHECK(launches->evidence.at(0).value == doctest::Approx(500e6 / summary.average));
}

/// What Keras records by default: one batch, without a marker. The device works on after the host's part.
GpuTrace one_batch(double get_next_us, double device_us = 900) {
  SyntheticTrace host;
  host.add("python", "train_function", 100, 400);
  host.add("get_next", "IteratorGetNextOp::DoCompute", 120, get_next_us);
  host.iterator("get_next", "Iterator::Root", 1, 0, 121, get_next_us - 2);
  host.iterator("get_next", "Iterator::Root::Prefetch", 2, 1, 122, get_next_us - 4);
  GpuTrace trace(host.to_message());
  for (int kernel = 0; kernel < 10; ++kernel) trace.kernel(450 + kernel * device_us / 10, device_us / 10 - 5);
  trace.step(0, "EagerKernelExecute 0", 450, device_us);
  return trace;
}

TEST_CASE("one whole step is enough for a verdict that says so") {
  const Analysis healthy = analyzed(one_batch(20));
  CHECK(healthy.diagnosis.judgement.status == VerdictStatus::healthy);
  CHECK(healthy.diagnosis.judgement.confidence >= 0.33);
  CHECK(healthy.diagnosis.judgement.confidence < 0.5);
  CHECK(report_of(healthy)["verdict"]["summary"].get<std::string>().starts_with("One step only: "));
  CHECK(host_of(healthy).pipelines.at(0).judged_cadence().share == doctest::Approx(20.0 / 1250));
  const Analysis near_the_limit = analyzed(one_batch(300));
  CHECK(near_the_limit.diagnosis.judgement.status == VerdictStatus::inconclusive);
  // A call that the step does not hold says nothing about it.
  SyntheticTrace host;
  host.add("get_next", "IteratorGetNextOp::DoCompute", 3000, 2000);
  host.iterator("get_next", "Iterator::Root", 1, 0, 3001, 1998);
  host.add("python", "train_function", 100, 400);
  host.add("python", "Iterator::Root", 9000, 1).ids["id"] = 9;
  CHECK(analyzed(GpuTrace(host.to_message())).diagnosis.judgement.status == VerdictStatus::inconclusive);
}

TEST_CASE("so it is on a host without devices") {
  SyntheticTrace host;
  host.add("python", "train_function", 100, 4000);
  host.add("get_next", "IteratorGetNextOp::DoCompute", 120, 20);
  host.iterator("get_next", "Iterator::Root", 1, 0, 121, 18);
  CHECK(analyzed(host.to_xspace()).diagnosis.judgement.status == VerdictStatus::healthy);
}

}  // namespace
}  // namespace doctor::gpu_hosts_test
