// Lanes of a timeline: which are drawn, with how many spans, in which order.

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "base/intervals.h"
#include "measure/functions/function_owners.h"
#include "measure/measure.h"
#include "measure/measure_passes.h"
#include "measure/timeline/timeline_recording.h"
#include "measured_timeline.h"
#include "pipeline.h"
#include "recorded_json.h"
#include "report/page.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"

namespace doctor::timeline_test {
namespace {

TEST_CASE("a call of many segments keeps its length, and each piece goes to whoever held most of it") {
  std::vector<Segment> segments;
  const Interval call{1'000'000, 1'000'000 + 240 * 100};
  // Of each hundred the first iterator holds 60 in six parts, the second the rest.
  for (Picoseconds start = call.start; start < call.end; start += 10) {
    const auto holder = static_cast<IteratorId>((start / 10) % 10 < 6 ? 1 : 2);
    segments.push_back({{start, start + 10}, holder, SegmentKind::self, LaneId{}});
  }
  const std::vector<Segment> stretches = stretches_of(call, segments);
  REQUIRE(stretches.size() == 1);
  CHECK(stretches.front().span == call);
  CHECK(stretches.front().iterator == IteratorId{1});
  // In its second half each piece has another holder.
  for (std::size_t index = segments.size() / 2; index < segments.size(); ++index) {
    segments[index].iterator = static_cast<IteratorId>(index / 10 % 2);
  }
  CHECK(stretches_of(call, segments).size() == 1 + 120);
}

TEST_CASE("a lane with more spans than a picture shows keeps its time") {
  SyntheticTrace trace;
  constexpr int kCount = 20'000;
  std::mt19937 random(1);
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 100.0 * kCount);
  trace.iterator("main", "Iterator::Root::Prefetch", 2, 1, 1, 100.0 * kCount - 2);
  double time = 0;
  for (int call = 0; call < kCount; ++call) {
    const double duration = 1 + static_cast<double>(random() % 90);
    trace.iterator("worker", "Iterator::Root::Prefetch::Map", 3, 2, 100.0 * call + 2, duration);
    time += duration;
  }
  const HostMeasurement host = measured(trace);
  check_windows(host.pipelines.front());
  const TimelineWindow& window = window_of(host, WindowKind::longest_call);
  CHECK(window.calls.front().stretches.size() <= kMostStretches);
  REQUIRE(window.lanes.size() == 2);
  CHECK(window.lanes.back().time == std::llround(time) * kUs);
}

TEST_CASE("of many threads those that did the most are kept, and the others are counted") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 1000);
  trace.iterator("main", "Iterator::Root::Prefetch", 2, 1, 1, 998);
  for (int thread = 0; thread < 100; ++thread) {
    trace.iterator(fmt::format("worker-{:03}", thread), "Iterator::Root::Prefetch::Map", 3, 2, 10, 1 + thread);
  }
  const HostMeasurement host = measured(trace);
  const TimelineWindow& window = window_of(host, WindowKind::longest_call);
  CHECK(window.lanes.size() == kMostTimelineLanes);
  CHECK(window.lanes_left_out == 101 - kMostTimelineLanes);
  const auto least = std::min_element(window.lanes.begin(), window.lanes.end(),
                                      [](const auto& a, const auto& b) { return a.time < b.time; });
  CHECK(least->time == 37 * kUs);
}

TEST_CASE("of many stages those that held and did the most are drawn, in the order of the code") {
  SyntheticTrace trace;
  std::string name = "Iterator::Root";
  for (std::uint64_t depth = 0; depth < 60; ++depth) {
    const double start = 1000 + static_cast<double>(depth);
    // Even ones hold a microsecond of their own, odd ones nothing.
    trace.iterator("main", name, depth + 1, depth, start + static_cast<double>(depth % 2),
                   500 - static_cast<double>(depth) * 2);
    name += "::Map";
  }
  const Json json = document(trace);
  const Json& pipeline = json["pipelines"][0];
  CHECK(pipeline["stages"].size() == kMostTimelineStages);
  CHECK(pipeline["stages_left_out"] == 20);
  std::size_t longest = std::string::npos;
  for (const Json& stage : pipeline["stages"]) {
    const std::size_t length = stage["long_name"].get<std::string>().size();
    CHECK(length < longest);  // inputs, whose names are longer, come first
    longest = length;
  }
}

TEST_CASE("inputs stand before what reads them, those of a zip in their order") {
  SyntheticTrace trace;
  const std::string zip = "Iterator::Root::Zip";
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 100);
  trace.iterator("main", zip, 2, 1, 1, 98);
  trace.iterator("main", zip + "[0]::Map", 3, 2, 2, 40);
  trace.iterator("main", zip + "[0]::Map::Range", 4, 3, 3, 10);
  trace.iterator("main", zip + "[1]::TFRecord", 5, 2, 50, 40);
  std::string order;
  const Json json = document(trace);
  for (const Json& stage : json["pipelines"][0]["stages"]) {
    CHECK(stage["order"] == &stage - &json["pipelines"][0]["stages"][0]);
    order += stage["short_name"].get<std::string>() + " ";
  }
  CHECK(order == "Range Map TFRecord Zip Root ");
}

}  // namespace
}  // namespace doctor::timeline_test
