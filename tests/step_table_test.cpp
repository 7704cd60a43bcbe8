// Steps: how they are told, what their time goes to, and their averages.

#include "measure/steps/step_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "measured_pipeline.h"
#include "profile/device_spans.h"
#include "written_events.h"

namespace doctor::step_table_test {
namespace {

HostMeasurement host_with(std::vector<StepMarker> markers, std::vector<Interval> get_next) {
  HostMeasurement host;
  host.step_markers = std::move(markers);
  host.pipelines.emplace_back().calls = std::move(get_next);
  host.profile.emplace();
  return host;
}

Picoseconds sum_of(const StepMeasurement& step) {
  return std::accumulate(step.parts.begin(), step.parts.end(), Picoseconds{0});
}

TEST_CASE("each moment of a step belongs to one part, and the parts sum to its length") {
  HostMeasurement host = host_with({{0, 100, 7}}, {{10, 50}, {90, 120}});
  host.profile->host.compute = {{0, 20}, {40, 70}};
  host.profile->host.launch = {{60, 80}};
  host.profile->host.compile = {{65, 95}};
  const StepTable table = measure_steps(host);
  REQUIRE(table.steps.size() == 1);
  const StepMeasurement& step = table.steps[0];
  CHECK(table.source == StepSource::markers);
  CHECK(step.number == 7);
  CHECK(step[StepPart::input] == 50);          // 10..50 and 90..100
  CHECK(step[StepPart::kernel_launch] == 20);  // 60..80
  CHECK(step[StepPart::compilation] == 10);    // 80..90
  CHECK(step[StepPart::host_compute] == 20);   // 0..10 and 50..60
  CHECK(step[StepPart::other] == 0);
  CHECK(sum_of(step) == step.duration());
}

TEST_CASE("what a busy device hides costs nothing, and copies to it are input") {
  HostMeasurement host = host_with({{0, 100, 7}}, {{10, 50}});
  host.profile->devices.compute_16 = {{0, 5}};
  host.profile->devices.compute_32 = {{0, 20}, {60, 70}};
  host.profile->devices.copy_to_device = {{65, 80}};
  host.profile->devices.copy_to_host = {{78, 90}};
  host.profile->devices.between_devices = {{85, 95}};
  host.profile->host.compute = {{0, 100}};
  const StepMeasurement step = measure_steps(host).steps[0];
  CHECK(step[StepPart::device_compute_16] == 5);
  CHECK(step[StepPart::device_compute_32] == 25);  // 5..20 and 60..70
  CHECK(step[StepPart::output] == 12);             // 78..90
  CHECK(step[StepPart::device_to_device] == 5);    // 90..95
  CHECK(step[StepPart::input] == 38);              // 20..50 and 70..78
  CHECK(step[StepPart::host_compute] == 15);
  CHECK(sum_of(step) == step.duration());
}

TEST_CASE("a pipeline that feeds another is no wait of its own") {
  HostMeasurement host = host_with({{0, 100, 1}}, {{10, 20}});
  PipelineMeasurement& feeding = host.pipelines.emplace_back();
  feeding.feeds_another = true;
  feeding.calls = {{0, 100}};
  CHECK(measure_steps(host).steps[0][StepPart::input] == 10);
}

TEST_CASE("a marker inside of another is the same step") {
  const HostMeasurement host = host_with({{0, 100, 1}, {5, 90, 1}, {100, 50, 2}, {160, 40, 3}}, {});
  const StepTable table = measure_steps(host);
  REQUIRE(table.steps.size() == 3);
  CHECK(table.steps[1].number == 2);
  CHECK(table.steps[2].span == Interval{160, 200});
}

TEST_CASE("steps without a number count where no numbered one is") {
  HostMeasurement host = host_with({{100, 100, 4}, {200, 100, 5}}, {});
  for (const Interval span : std::vector<Interval>{{0, 90}, {110, 190}, {120, 130}, {300, 380}, {310, 320}}) {
    host.profile->host.steps.push_back({span, {}, {}});
  }
  const StepTable table = measure_steps(host);
  REQUIRE(table.steps.size() == 4);
  CHECK_FALSE(table.steps[0].number.has_value());
  CHECK(table.steps[1].number == 4);
  CHECK(table.steps[3].span == Interval{300, 380});
}

TEST_CASE("a step that the device works on when the host has left it is the device's") {
  HostMeasurement host = host_with({{0, 100, 1}, {100, 100, 2}, {200, 100, 3}}, {});
  host.profile->device_steps = {{"/device:GPU:0", {10, 90}, {}, 1, true},
                                {"/device:GPU:0", {150, 270}, {}, 2, true},
                                {"/device:GPU:0", {500, 510}, {}, 9, true}};
  const StepTable table = measure_steps(host);
  REQUIRE(table.steps.size() == 3);
  CHECK(table.steps[0].span == Interval{0, 100});
  CHECK(table.steps[1].span == Interval{150, 270});
  host.step_markers.clear();
  CHECK(measure_steps(host).steps.size() == 3);  // all of the device's
}

TEST_CASE("without markers the cadence of GetNext tells the steps, an epoch's end is none") {
  HostMeasurement host = host_with({}, {{0, 10}, {100, 110}, {200, 210}, {900, 910}, {1000, 1010}});
  host.pipelines[0].iteration_starts = {3};
  const StepTable table = measure_steps(host);
  CHECK(table.source == StepSource::cadence);
  REQUIRE(table.steps.size() == 3);
  CHECK(table.steps[0].span == Interval{0, 100});
  CHECK(table.steps[2].span == Interval{900, 1000});
  CHECK(table.steps[0][StepPart::input] == 10);
  host.step_markers = {{0, 1500, 1}};  // one marker around a training loop
  CHECK(measure_steps(host).source == StepSource::cadence);
  host.pipelines.clear();
  CHECK(measure_steps(host).source == StepSource::markers);
  host.step_markers.clear();
  CHECK(measure_steps(host).source == StepSource::none);
}

/// Ten steps of 100; a call of 20 begins at `call_start` in each period, the marker spans `marker`.
HostMeasurement loop_with(Interval marker, Picoseconds call_start) {
  HostMeasurement host = host_with({}, {});
  for (Picoseconds step = 0; step < 10; ++step) {
    const Picoseconds start = 100 * step;
    host.step_markers.push_back({start + marker.start, marker.end - marker.start, step});
    host.pipelines[0].calls.push_back({start + call_start, start + call_start + 20});
  }
  host.pipelines[0].markers_miss_calls = get_next_is_outside_markers(host.step_markers, host.pipelines[0].calls);
  return host;
}

TEST_CASE("markers that leave the calls out are told, and steps run from call to call") {
  const HostMeasurement outside = loop_with({25, 95}, 0);
  REQUIRE(outside.pipelines[0].markers_miss_calls);
  StepTable table = measure_steps(outside);
  CHECK(table.source == StepSource::cadence_beside_markers);
  REQUIRE(table.steps.size() == 9);
  CHECK(table.steps[3].span == Interval{300, 400});
  CHECK(*summarize_steps({&table, 1}).input_share == doctest::Approx(0.2));
  const HostMeasurement inside = loop_with({0, 90}, 5);
  CHECK_FALSE(inside.pipelines[0].markers_miss_calls);
  table = measure_steps(inside);
  CHECK(table.source == StepSource::markers);
  CHECK(*summarize_steps({&table, 1}).input_share == doctest::Approx(20.0 / 90));
}

TEST_CASE("a validation between two epochs is beside the training, a second dataset of the loop is not") {
  const auto is_beside = [](HostMeasurement host, std::vector<Interval> calls) {
    host.pipelines.emplace_back().calls = std::move(calls);
    find_pipelines_beside_training(host.step_markers, host.pipelines);
    CHECK_FALSE(host.pipelines[0].is_beside_training);
    return host.pipelines[1].is_beside_training;
  };
  const HostMeasurement loop = loop_with({0, 90}, 5);
  const std::vector<Interval> validation = {{491, 493}, {494, 495}, {496, 498}};
  std::vector<Interval> in_pauses;
  for (const Interval call : loop.pipelines[0].calls) in_pauses.push_back({call.start + 88, call.start + 90});
  CHECK(is_beside(loop, validation));
  CHECK(is_beside(loop, {{-20, -10}, {-10, -5}}));  // a preview
  CHECK_FALSE(is_beside(loop, in_pauses));
  CHECK_FALSE(is_beside(loop, {{10, 20}, {491, 493}}));  // one that steps take now and then
  CHECK_FALSE(is_beside(loop_with({25, 95}, 0), validation));
  CHECK_FALSE(is_beside(host_with({}, {{0, 10}, {100, 110}}), validation));
}

TEST_CASE("markers of some steps, calls before all steps and a second loop are no calls outside of markers") {
  const HostMeasurement loop = loop_with({25, 95}, 0);
  const std::vector<Interval>& calls = loop.pipelines[0].calls;
  const std::vector<StepMarker>& markers = loop.step_markers;
  CHECK(get_next_is_outside_markers(markers, calls));
  CHECK_FALSE(get_next_is_outside_markers(std::span(markers).first(2), calls));  // too few to tell
  CHECK_FALSE(get_next_is_outside_markers(markers, {}));
  CHECK_FALSE(get_next_is_outside_markers({}, calls));
  // Elements that were all taken before the first step.
  CHECK_FALSE(get_next_is_outside_markers(markers, std::vector<Interval>{{0, 5}, {5, 10}, {10, 15}}));
  // A validation loop of many calls between two epochs.
  CHECK_FALSE(get_next_is_outside_markers(markers, std::vector<Interval>{{496, 497}, {497, 498}, {498, 499}}));
  // A marker for every second step, around its call.
  std::vector<StepMarker> every_second;
  for (const StepMarker& marker : markers) {
    if (marker.number % 2 == 0) every_second.push_back({marker.start - 25, 95, marker.number});
  }
  CHECK_FALSE(get_next_is_outside_markers(every_second, calls));
  // Calls in half of the pauses between nine steps: no more than in every second one.
  std::vector<Interval> in_half;
  for (std::size_t call = 1; call < 9; call += 2) in_half.push_back(calls[call]);
  CHECK_FALSE(get_next_is_outside_markers(std::span(markers).first(9), in_half));
  in_half.push_back(calls[2]);
  std::sort(in_half.begin(), in_half.end(), [](Interval a, Interval b) { return a.start < b.start; });
  CHECK(get_next_is_outside_markers(std::span(markers).first(9), in_half));
  // A marker inside another one is none of its own.
  std::vector<StepMarker> nested;
  for (const StepMarker& marker : markers) {
    nested.push_back({marker.start - 25, 95, marker.number});
    nested.push_back(marker);
  }
  CHECK_FALSE(get_next_is_outside_markers(nested, calls));
}

TEST_CASE("averages leave out the first and the last of more than five steps") {
  const std::vector<StepMarker> markers = {{0, 900, 0}, {1000, 100, 1}, {2000, 100, 2}, {3000, 100, 3}, {4000, 100, 4}};
  HostMeasurement host = host_with(markers, {{0, 450}, {1000, 1050}});
  StepTable table = measure_steps(host);
  StepSummary summary = summarize_steps({&table, 1});
  CHECK(summary.count == 5);
  CHECK(summary.average == doctest::Approx(260));
  CHECK(summary.deviation == doctest::Approx(320));
  CHECK(summary.longest == 900);
  CHECK(*summary.input_share == doctest::Approx(500.0 / 1300));  // of the sum, no mean of shares
  host.step_markers.push_back({5000, 100, 5});
  table = measure_steps(host);
  summary = summarize_steps({&table, 1});
  CHECK(summary.count == 4);
  CHECK(summary.average == doctest::Approx(100));
  CHECK(summary.deviation == doctest::Approx(0));
  CHECK(*summary.input_share == doctest::Approx(0.125));
  CHECK_FALSE(summarize_steps({}).input_share.has_value());
}

TEST_CASE("a device's step is named by the host, or counted by the profiler") {
  struct Case {
    std::string name;
    std::string step_name;
    std::optional<std::int64_t> number;
    bool is_host_number;
  };
  const std::vector<Case> cases = {{"10", "train 500", 500, true},   {"train 501", "", 501, true},
                                   {"my step 7", "", 7, true},       {"10", "", 10, false},
                                   {"10", "10", 10, false},          {"EagerKernelExecute 0", "", 0, false},
                                   {"3", "FunctionRun 3", 3, false}, {"no number", "", {}, false}};
  for (const Case& expected : cases) {
    CAPTURE(expected.name);
    WrittenEvents events;
    const EventLine& device = events.line("/device:GPU:1", "Steps");
    std::vector<WrittenEvents::Text> arguments = {{"group_id", "10"}};
    if (!expected.step_name.empty()) arguments.push_back({"step_name", expected.step_name});
    events.add(device, expected.name, 100, 200, arguments);
    events.add(events.line("/host:CPU", "Steps"), "8", 5, 99);
    DeviceStepsBuilder builder;
    events.feed(builder);
    const std::vector<DeviceStep> steps = builder.finish();
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].device == "/device:GPU:1");
    CHECK(steps[0].span == Interval{100, 200});
    CHECK(steps[0].group == 10);
    CHECK(steps[0].number == expected.number);
    CHECK(steps[0].is_host_number == expected.is_host_number);
  }
}

/// Markers of 100 numbered 10 to 14, one after another; the profiler counts them from 0.
HostMeasurement marked_host() {
  HostMeasurement host = host_with({}, {});
  for (std::int64_t step = 0; step < 5; ++step) {
    host.step_markers.push_back({100 * step, 100, 10 + step});
    host.profile->host.steps.push_back({{100 * step, 100 * step + 100}, 10 + step, step});
  }
  return host;
}

TEST_CASE(
    "a device's step finds its marker by group, by the host's number, by overlap; never by the profiler's count") {
  using Found = std::vector<std::optional<std::size_t>>;
  HostMeasurement host = marked_host();
  const std::string gpu = "/device:GPU:0";
  host.profile->device_steps = {{gpu, {110, 190}, 1, 1, false}, {gpu, {120, 260}, 1, 11, true}};
  CHECK(markers_of_device_steps(host) == Found{1, 1});
  // The group of a step that the profiler cut: no marker's, though it lies in one.
  host.profile->host.steps.push_back({{40, 60}, std::nullopt, 9});
  host.profile->device_steps = {{gpu, {45, 55}, 9, 9, false}};
  CHECK(markers_of_device_steps(host) == Found{std::nullopt});
  // Without a group.
  host.profile->device_steps = {
      {gpu, {250, 390}, {}, 12, true}, {gpu, {250, 390}, {}, 12, false}, {gpu, {900, 990}, {}, 3, false}};
  CHECK(markers_of_device_steps(host) == Found{2, 3, std::nullopt});
  // A step of an earlier epoch has the same number.
  host.step_markers.push_back({600, 100, 12});
  host.profile->device_steps = {{gpu, {250, 290}, {}, 12, true}, {gpu, {690, 790}, {}, 12, true}};
  CHECK(markers_of_device_steps(host) == Found{2, 5});
}

TEST_CASE("of a step that several devices show the longest counts") {
  HostMeasurement host = marked_host();
  host.profile->device_steps = {{"/device:GPU:0", {10, 120}, 0, 0, false}, {"/device:GPU:1", {10, 130}, 0, 0, false}};
  CHECK(measure_steps(host).steps[0].span == Interval{10, 130});
  host.step_markers.clear();
  host.profile->host.steps.clear();
  host.profile->device_steps.push_back({"/device:GPU:1", {140, 200}, 1, 1, false});
  host.profile->device_steps.push_back({"/device:GPU:1", {240, 300}, 2, 2, false});
  const StepTable table = measure_steps(host);
  REQUIRE(table.steps.size() == 3);
  CHECK(table.steps[0].span == Interval{10, 130});
}

TEST_CASE("work that only touches a step is none of it") {
  const StepTable table = measure_steps(host_with({{0, 100, 1}, {100, 100, 2}, {200, 100, 3}}, {{10, 20}}));
  REQUIRE(table.steps.size() == 3);
  CHECK(steps_with(std::vector<Interval>{{50, 100}}, table) == 1);
  CHECK(steps_with(std::vector<Interval>{{100, 200}}, table) == 1);
  CHECK(steps_with(std::vector<Interval>{{99, 101}}, table) == 2);
  CHECK(steps_with(std::vector<Interval>{{300, 310}}, table) == 0);
}

}  // namespace

}  // namespace doctor::step_table_test
