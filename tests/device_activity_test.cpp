// What devices did: times that several streams share, copies, gaps, and which lines of a trace are a device's own.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/intervals.h"
#include "gpu_trace.h"
#include "pipeline.h"
#include "profile/device_profile.h"
#include "temporary_directory.h"

namespace doctor::device_activity_test {
namespace {

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;

HostMeasurement measured(const GpuTrace& trace) {
  const TemporaryDirectory directory;
  const std::vector<std::string> files = {directory.write("gpu.xplane.pb", trace.to_xspace())};
  return diagnose_files(files, {}).measurements.hosts.at(0);
}

DeviceActivity only_device(const GpuTrace& trace) {
  std::vector<DeviceActivity> devices = measured(trace).device_profile.devices;
  REQUIRE(devices.size() == 1);
  return devices[0];
}

TEST_CASE("each moment counts once, whatever streams do at once") {
  GpuTrace trace(SyntheticTrace{}.to_message());
  trace.kernel(0, 10).kernel(5, 10, {}, "16(Compute)").kernel(30, 10);
  trace.copy("H2D", 8, 12, 100)
      .copy("H2D", 50, 5, 28)
      .copy("D2H", 60, 5, 7)
      .copy("D2D", 70, 5, 8)
      .copy("P2P", 80, 20, 9);
  const DeviceActivity device = only_device(trace);
  CHECK(device.name == "/device:GPU:0");
  CHECK(device.window == Interval{0, 100 * kUs});
  CHECK(device.kernels == 25 * kUs);
  CHECK(device.kernel_sum == 30 * kUs);
  CHECK(device.kernel_count == 3);
  CHECK(device.busy == (20 + 10 + 5 + 5 + 5 + 20) * kUs);
  CHECK(device.idle() == 35 * kUs);
  CHECK(device.to_device.count == 2);
  CHECK(device.to_device.bytes == 128);
  CHECK(device.to_device.time == 17 * kUs);
  CHECK(device.uncovered_copies_to_device == 10 * kUs);
  CHECK(device.to_host.bytes == 7);
  CHECK(device.on_device.bytes == 8);
  CHECK(device.between_devices.bytes == 9);
  CHECK(device.computing == std::vector<Interval>{{0, 15 * kUs}, {30 * kUs, 40 * kUs}});
}

TEST_CASE("collectives are kernels, but compute nothing") {
  GpuTrace trace(SyntheticTrace{}.to_message());
  GpuTrace::Kernel nccl;
  nccl.name = "ncclKernel_AllReduce_RING_LL_Sum_half(ncclWorkElem)";
  trace.kernel(0, 10).kernel(20, 30, nccl);
  const DeviceActivity device = only_device(trace);
  CHECK(device.collectives == 30 * kUs);
  CHECK(device.half_precision == 0);
  CHECK(device.full_precision == 10 * kUs);
  CHECK(device.kernels == 40 * kUs);
  CHECK(device.computing == std::vector<Interval>{{0, 10 * kUs}});
}

TEST_CASE("precision and TensorCores are told by names") {
  GpuTrace trace(SyntheticTrace{}.to_message());
  trace.kernel(0, 1, {"volta_sgemm", "a/MatMul:MatMul", "regs:1", {}});
  trace.kernel(10, 2, {"volta_fp16_s884cudnn_fp16", "a/Conv2D:Conv2D", "regs:1", {}});
  trace.kernel(20, 4, {"EigenMetaKernel<Eigen::half>", "a/Relu:Relu", "regs:1", {}});
  trace.kernel(30, 8, {"cast_bf16_to_float", "", "regs:1", {}});
  trace.kernel(40, 16, {"nvjet_sm90_tst_128x128_64x6_1x2_h_bz_NTT", "", "regs:1", {}});
  trace.kernel(60, 32, {"nvjet_sss_128x128", "", "regs:1", {}});
  const DeviceActivity device = only_device(trace);
  CHECK(device.full_precision == 33 * kUs);
  CHECK(device.half_precision == 30 * kUs);
  CHECK(device.of_named_ops == 7 * kUs);
  CHECK(device.tensor_core_eligible == 3 * kUs);
  CHECK(device.on_tensor_cores == 2 * kUs);
}

TEST_CASE("derived lines and steps are nobody's time") {
  GpuTrace trace(SyntheticTrace{}.to_message());
  trace.kernel(10, 5, {"volta_sgemm", "a/MatMul:MatMul", "regs:1", {}});
  trace.step(1, 0, 1000);
  const DeviceActivity device = only_device(trace);
  CHECK(device.window == Interval{10 * kUs, 15 * kUs});
  CHECK(device.kernel_count == 1);
  CHECK(device.busy == 5 * kUs);
}

TEST_CASE("the median kernel is within 3%") {
  GpuTrace trace(SyntheticTrace{}.to_message());
  for (int index = 0; index < 101; ++index) trace.kernel(index * 1000, 1 + index * 3);
  const auto median = static_cast<double>(only_device(trace).median_kernel);
  CHECK(median <= 151e6);
  CHECK(median >= 0.97 * 151e6);
}

TEST_CASE("a span set is the union, and closes the shortest gaps when it is full") {
  SpanSet exact(4);
  for (const Interval span : std::vector<Interval>{{10, 20}, {0, 5}, {20, 25}, {12, 14}, {40, 40}}) exact.add(span);
  CHECK(exact.take() == std::vector<Interval>{{0, 5}, {10, 25}});
  CHECK(exact.take().empty());

  // Pairs of spans 2 us apart, 100 us from pair to pair: the small gaps go, the large ones stay.
  SpanSet full(8);
  for (Picoseconds pair = 0; pair < 8; ++pair) {
    full.add({(100 * pair) * kUs, (100 * pair + 1) * kUs});
    full.add({(100 * pair + 3) * kUs, (100 * pair + 4) * kUs});
  }
  const std::vector<Interval> spans = full.take();
  REQUIRE(spans.size() == 8);
  CHECK(spans[0] == Interval{0, 4 * kUs});
  CHECK(spans[7] == Interval{700 * kUs, 704 * kUs});
}

TEST_CASE("gaps and common parts of rows of intervals") {
  using Row = std::vector<Interval>;
  const Row row = {{10, 20}, {30, 40}};
  CHECK(gaps_in({0, 50}, row) == Row{{0, 10}, {20, 30}, {40, 50}});
  CHECK(gaps_in({15, 35}, row) == Row{{20, 30}});
  CHECK(gaps_in({12, 18}, row).empty());
  CHECK(gaps_in({0, 5}, row) == Row{{0, 5}});
  CHECK(gaps_in({45, 50}, row) == Row{{45, 50}});
  CHECK(intersected(row, Row{{0, 12}, {15, 33}, {39, 60}}) == Row{{10, 12}, {15, 20}, {30, 33}, {39, 40}});
  CHECK(intersected(row, Row{}).empty());
}

TEST_CASE("which lines are a device's own") {
  struct Case {
    std::string plane;
    std::string title;
    std::string line;
    std::string device;  ///< empty: none
  };
  const std::vector<Case> cases = {
      {"/device:GPU:1", "", "Stream #14(Compute)", "/device:GPU:1"},
      {"/device:GPU:1", "", "TensorFlow Ops", ""},
      {"/device:GPU:1", "", "Steps", ""},
      {"/device:GPU:0", "/gpu:0/stream:12 Compute", "", "/device:GPU:0"},
      {"/device:GPU:0", "/device:GPU:0/stream:12 Compute", "", "/device:GPU:0"},
      {"/device:GPU:0", "/gpu:0/stream:all Compute", "", ""},
      {"/device:GPU:0", "/gpu:0/memcpy Compute", "", ""},
      {"/device:GPU:0", "/gpu:0/stream:12 Tensors", "", ""},
      {"/device:GPU:0", "/job:localhost/replica:0/task:0/gpu:0 Compute", "", ""},
  };
  for (const Case& expected : cases) {
    CAPTURE(expected.plane);
    CAPTURE(expected.title);
    CAPTURE(expected.line);
    EventPlane plane;
    plane.name = expected.plane;
    plane.title = expected.title;
    plane.kind = PlaneKind::device;
    EventLine line;
    line.plane = &plane;
    line.name = expected.line;
    line.kind = kind_of_line(line.name);
    CHECK(device_of_stream(line).value_or("") == expected.device);
  }
}

TEST_CASE("the streams of a TF1 timeline tell ops instead of kernels") {
  EventPlane plane;
  plane.name = "/device:GPU:0";
  plane.title = "/gpu:0/stream:12 Compute";
  plane.kind = PlaneKind::device;
  EventLine line;
  line.plane = &plane;
  std::vector<EventArgument> arguments(2);
  arguments[0] = {"name", ArgumentType::text, "layer_1/MatMul"};
  arguments[1] = {"op", ArgumentType::text, "MatMul"};
  TraceEvent event;
  event.line = &line;
  event.name = "layer_1/MatMul:MatMul";
  event.short_name = "MatMul";
  event.arguments = arguments;
  KernelNames names;
  const GpuEvent kernel = understand_gpu_event(event, names);
  CHECK(kernel.activity == GpuActivity::kernel);
  CHECK(kernel.name == "MatMul");
  CHECK(kernel.op_name == "layer_1/MatMul");
  CHECK(kernel.is_op_tensor_core_eligible);
  event.name = "edge_8_Const:MEMCPYHtoD";
  event.short_name = "MEMCPYHtoD";
  CHECK(understand_gpu_event(event, names).activity == GpuActivity::copy_to_device);
  event.short_name = "MEMCPYDtoH";
  CHECK(understand_gpu_event(event, names).activity == GpuActivity::copy_to_host);
  event.short_name = "MEMSET";
  CHECK(understand_gpu_event(event, names).activity == GpuActivity::other);
}

TEST_CASE("files with clocks of their own give no times that could be compared") {
  EventPlane plane;
  plane.name = "/device:GPU:0";
  plane.kind = PlaneKind::device;
  EventLine line;
  line.plane = &plane;
  const EventArgument details = {"kernel_details", ArgumentType::text, "regs:1"};
  TraceEvent event;
  event.line = &line;
  event.name = "kernel";
  event.duration = 10 * kUs;
  event.arguments = {&details, 1};
  for (const bool is_aligned : {true, false}) {
    DeviceProfiler profiler(is_aligned ? std::optional<std::int64_t>(1000) : std::nullopt);
    EventHeader header;
    header.origin_ns = 3000;
    profiler.begin(header);
    profiler.take(event);
    const DeviceProfile profile = profiler.finish();
    REQUIRE(profile.devices.size() == 1);
    CHECK(profile.is_aligned == is_aligned);
    CHECK(profile.devices[0].window.start == (is_aligned ? 2 * kUs : 0));
    CHECK(computing_of(profile).size() == (is_aligned ? 1 : 0));
  }
}

}  // namespace
}  // namespace doctor::device_activity_test
