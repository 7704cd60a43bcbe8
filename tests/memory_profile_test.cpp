// What allocators of devices gave and took back: the peak, who held it, the timeline.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "pipeline.h"
#include "profile/profile.h"
#include "profile/tensor_type.h"
#include "temporary_directory.h"
#include "written_allocator.h"

namespace doctor::memory_profile_test {
namespace {

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;

HostMeasurement measured(const std::string& name, const std::string& bytes) {
  const TemporaryDirectory directory;
  DiagnosisSetup setup;
  setup.needs.profile = ProfileParts();
  return diagnose_files(std::vector<std::string>{directory.write(name, bytes)}, setup).measurements.hosts.at(0);
}

MemoryProfile profile_of(const SyntheticTrace& trace) {
  return measured("a.xplane.pb", trace.to_xspace()).profile->memory;
}

/// Times since the first event.
struct PeakTimes {
  Picoseconds last = 0;
  Picoseconds first = 0;
};

/// As libtpu writes them: allocators have no name, but their device's number on the host.
SyntheticTrace on_devices(SyntheticTrace trace) {
  std::int64_t device = 0;
  for (SyntheticTrace::Event& event : trace.events) {
    if (event.texts.erase("allocator_name") > 0) event.numbers["index_on_host"] = device++ % 2;
  }
  return trace;
}

PeakTimes peak_times(const HostMeasurement& host) {
  const MemoryPeak& peak = host.profile->memory.allocators.at(0).peak;
  return {peak.time - host.window_start, peak.first_time - host.window_start};
}

/// 1000 bytes from before the window, then up to 1700, with a part that two threads share.
SyntheticTrace small_job() {
  SyntheticTrace trace;
  trace.add("python", "train", 0, 1000);
  WrittenAllocator gpu(trace, "GPU_0_bfc", 10'000, 1000);
  gpu.lifetime_peak = 5000;
  gpu.fragmentation = 0.25;
  gpu.allocate("python", 10, 0x100, 300, {"model/a", "[10]", "output", 1});
  gpu.allocate("python", 20, 0x200, 200, {"model/b", "[5]", "temp", 19});
  gpu.fragmentation = 0.5;
  gpu.free("tf_compute", 30, 0x100);
  gpu.allocate("python", 40, 0x100, 256, {"model/c", "[]", "output", 3});
  gpu.fragmentation = 0;
  gpu.allocate("tf_compute", 50, 0x300, 256, {"model/c", "[]", "output", 3});
  gpu.free("tf_compute", 60, 0x200);
  gpu.free_old("tf_compute", 70, 0x900, 400);
  return trace;
}

TEST_CASE("the allocators of a TPU are told apart by the device") {
  const MemoryProfile profile = profile_of(on_devices(small_job()));
  REQUIRE(profile.allocators.size() == 2);
  CHECK(profile.incomplete_events == 0);
  CHECK(profile.allocators[0].name.starts_with("device "));
  CHECK(profile.allocators[0].name != profile.allocators[1].name);
}

TEST_CASE("the peak, when it was and who held it") {
  const HostMeasurement host = measured("a.xplane.pb", small_job().to_xspace());
  REQUIRE(host.profile->memory.allocators.size() == 1);
  const AllocatorProfile& gpu = host.profile->memory.allocators[0];
  CHECK(gpu.name == "GPU_0_bfc");
  CHECK(gpu.allocation_count == 4);
  CHECK(gpu.deallocation_count == 3);
  CHECK(gpu.peak.bytes == 1712);
  CHECK(gpu.peak.capacity() == 10'000);
  CHECK(gpu.peak.count == 1);
  CHECK(gpu.peak.fragmentation == 0);
  CHECK(gpu.mean_fragmentation == doctest::Approx((2 * 0.25 + 2 * 0.5) / 7));
  CHECK(gpu.max_fragmentation == 0.5);
  CHECK(gpu.lifetime_peak_bytes == 5000);
  CHECK(peak_times(host).last == 50 * kUs);
  CHECK(gpu.unseen_bytes == 1000);
  REQUIRE(gpu.at_peak.size() == 2);
  CHECK(gpu.at_peak[0].op_name == "model/c");
  CHECK(gpu.at_peak[0].count == 2);
  CHECK(gpu.at_peak[0].total_bytes() == 512);
  CHECK(gpu.at_peak[0].requested_bytes == 255);
  CHECK(gpu.at_peak[0].data_type == "int32");
  CHECK(gpu.at_peak[1].op_name == "model/b");
  CHECK(gpu.at_peak[1].region_type == "temp");
  CHECK(gpu.at_peak[1].shape == "[5]");
  CHECK(gpu.at_peak[1].data_type == "half");
}

TEST_CASE("a Chrome trace with the same events says the same") {
  const MemoryProfile from_json = measured("a.trace.json", small_job().to_chrome_json()).profile->memory;
  const MemoryProfile from_xspace = profile_of(small_job());
  REQUIRE(from_json.allocators.size() == 1);
  const AllocatorProfile& json = from_json.allocators[0];
  const AllocatorProfile& xspace = from_xspace.allocators[0];
  CHECK(json.peak.bytes == xspace.peak.bytes);
  CHECK(json.mean_fragmentation == doctest::Approx(xspace.mean_fragmentation));
  CHECK(json.unseen_bytes == xspace.unseen_bytes);
  CHECK(json.at_peak.size() == xspace.at_peak.size());
}

TEST_CASE("of several moments with as much in use the latest counts, whatever the order of the threads") {
  for (const std::string first_thread : {"a", "z"}) {
    SyntheticTrace trace;
    trace.add("python", "train", 0, 1000);
    WrittenAllocator gpu(trace, "GPU_0_bfc", 10'000, 0);
    gpu.allocate(first_thread, 10, 1, 500, {"early", "[]", "output", 1});
    gpu.free("m", 20, 1);
    gpu.allocate("m", 30, 2, 500, {"late", "[]", "output", 1});
    gpu.free(first_thread, 40, 2);
    const HostMeasurement host = measured("a.xplane.pb", trace.to_xspace());
    const AllocatorProfile& profile = host.profile->memory.allocators.at(0);
    CHECK(profile.peak.count == 2);
    CHECK(peak_times(host).first == 10 * kUs);
    CHECK(peak_times(host).last == 30 * kUs);
    REQUIRE(profile.at_peak.size() == 1);
    CHECK(profile.at_peak[0].op_name == "late");
  }
}

TEST_CASE("allocators are apart, the largest peak first") {
  SyntheticTrace trace;
  WrittenAllocator host(trace, "gpu_host_bfc", 10'000, 0);
  WrittenAllocator gpu(trace, "GPU_0_bfc", 10'000, 0);
  host.allocate("python", 10, 1, 500);
  gpu.allocate("python", 20, 1, 600);
  host.free("python", 30, 1);
  const MemoryProfile profile = profile_of(trace);
  REQUIRE(profile.allocators.size() == 2);
  CHECK(profile.allocators[0].name == "GPU_0_bfc");
  CHECK(profile.allocators[1].peak.bytes == 500);
  CHECK(profile.allocators[1].at_peak.size() == 1);
}

TEST_CASE("events that do not say enough are counted") {
  SyntheticTrace trace = small_job();
  trace.add("python", "MemoryAllocation", 80, 0);
  trace.add("python", "MemoryDeallocation", 90, 0).texts = {{"allocator_name", "GPU_0_bfc"}};
  const MemoryProfile profile = profile_of(trace);
  CHECK(profile.incomplete_events == 2);
  REQUIRE(profile.allocators.size() == 1);
  CHECK(profile.allocators[0].peak.bytes == 1712);
}

TEST_CASE("of too many allocations only the large ones are followed") {
  constexpr std::size_t kPairs = AllocatorRecorder::kMostRows;
  AllocatorRecorder recorder;
  AllocationGroup weights;
  weights.op_name = "weights";
  weights.allocation_bytes = 1 << 20;
  AllocationGroup scalar;
  scalar.op_name = "scalar";
  scalar.allocation_bytes = 256;
  recorder.change(0, {1 << 20, 0, 0, 0, 0});
  recorder.allocate(0, 1, weights);
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const auto time = static_cast<Picoseconds>(2 * pair + 1);
    recorder.change(time, {(1 << 20) + 256, 0, 0, 0, 0});
    recorder.allocate(time, 2, scalar);
    if (pair + 1 == kPairs) break;
    recorder.change(time + 1, {1 << 20, 0, 0, 0, 0});
    recorder.free(time + 1, 2, 256);
  }
  const AllocatorProfile profile = recorder.finish("GPU_0_bfc", 0);
  CHECK(profile.peak.bytes == (1 << 20) + 256);
  CHECK(profile.peak.count == kPairs);
  CHECK(profile.least_followed_bytes == 257);
  REQUIRE(profile.at_peak.size() == 1);
  CHECK(profile.at_peak[0].op_name == "weights");
  CHECK(profile.unseen_bytes == 256);
  CHECK(profile.timeline.size() <= MemoryTimeline::kMostSpans);
}

TEST_CASE("a timeline keeps its peak and its ends, in any order of the changes") {
  struct Change {
    Picoseconds time;
    std::uint64_t bytes;
  };
  std::vector<Change> changes;
  for (Picoseconds index = -2000; index < 3000; ++index) {
    changes.push_back({index * kUs, static_cast<std::uint64_t>(index == 1234 ? 9'000 : 100 + index % 7 + 7)});
  }
  MemoryTimeline forward;
  for (const Change& change : changes) forward.add(change.time, change.bytes);
  std::reverse(changes.begin(), changes.end());
  MemoryTimeline backward;
  for (const Change& change : changes) backward.add(change.time, change.bytes);
  const std::vector<MemorySpan> spans = forward.spans();
  CHECK(spans == backward.spans());
  CHECK(spans.size() <= MemoryTimeline::kMostSpans);
  CHECK(spans.size() > MemoryTimeline::kMostSpans / 4);
  CHECK(spans.front().start == -2000 * kUs);
  CHECK(spans.back().end == 2999 * kUs);
  const auto peak = std::max_element(
      spans.begin(), spans.end(), [](const MemorySpan& a, const MemorySpan& b) { return a.most_bytes < b.most_bytes; });
  CHECK(peak->most_bytes == 9'000);
  CHECK(peak->start <= 1234 * kUs);
  CHECK(peak->end >= 1234 * kUs);
  CHECK(peak->last_bytes < 9'000);
}

TEST_CASE("bytes of an element by its shapes and types") {
  CHECK(element_bytes("[]", "int64", {}) == 8);
  CHECK(element_bytes("[224,224,3] []", "uint8 int32", {}) == 224 * 224 * 3 + 4);
  CHECK(element_bytes("[?,10] [?]", "float bfloat16", 32) == 32 * 10 * 4 + 32 * 2);
  CHECK(element_bytes("[0,10]", "float", {}) == 0);
  CHECK_FALSE(element_bytes("[?,10]", "float", {}));
  CHECK_FALSE(element_bytes("[8,?]", "float", 32));
  CHECK_FALSE(element_bytes("<unknown>", "float", 32));
  CHECK_FALSE(element_bytes("[]", "string", {}));
  CHECK_FALSE(element_bytes("[] []", "float", {}));
  CHECK_FALSE(element_bytes("[4294967296,4294967296]", "float", {}));
  CHECK_FALSE(element_bytes("", "", {}));
  CHECK(tensor_type_name(19) == "half");
  CHECK(tensor_type_name(0).empty());
  CHECK(tensor_type_name(101).empty());
}

}  // namespace
}  // namespace doctor::memory_profile_test
