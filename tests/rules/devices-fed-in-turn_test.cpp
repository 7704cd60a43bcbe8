#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::devices_fed_in_turn_test {
namespace {

constexpr std::string_view kRule = "devices-fed-in-turn";

/// Two devices and ten steps of 100 ms. In each, copies to both take such a part of the step, partly at once.
MeasuredPipeline fed(double share, double at_once = 0, double thread_share = 1) {
  MeasuredPipeline pipeline = with_device();
  DeviceActivity other = device_of(pipeline);
  other.name = "/device:GPU:1";
  pipeline.host().device_profile.devices.push_back(other);
  DeviceFeed first = {"/device:GPU:0", "python3", 1, 0, 0, {}};
  DeviceFeed second = {"/device:GPU:1", "python3", 1, 0, 0, {}};
  std::vector<StepMeasurement>& steps = pipeline.host().steps.steps;
  const auto length = kPicosecondsPerSecond / 10;
  // Of copies of `each`, the second begins so early that `at_once` of both together overlap.
  const Picoseconds each = std::llround(share * static_cast<double>(length) / (2 * (1 - at_once)));
  const Picoseconds overlap = std::llround(2 * at_once * static_cast<double>(each));
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const Picoseconds start = static_cast<Picoseconds>(step) * length;
    steps[step].span = {start, start + length};
    first.spans.push_back({start, start + each});
    second.spans.push_back({start + each - overlap, start + 2 * each - overlap});
  }
  for (DeviceFeed* const feed : {&first, &second}) {
    feed->copies = 10 * each;
    feed->by_thread = std::llround(thread_share * static_cast<double>(feed->copies));
  }
  pipeline.host().profile.emplace().device_feeds = {first, second};
  return pipeline;
}

MeasuredPipeline by_two_threads() {
  MeasuredPipeline pipeline = fed(0.3);
  pipeline.host().profile->device_feeds[1].line = 2;
  return pipeline;
}

MeasuredPipeline without_calls() {
  MeasuredPipeline pipeline = fed(0.3);
  pipeline.host().profile->device_feeds.clear();
  return pipeline;
}

MeasuredPipeline without_steps() {
  MeasuredPipeline pipeline = fed(0.3);
  pipeline.host().steps = {};
  return pipeline;
}

TEST_CASE("devices-fed-in-turn: situations") {
  check_situations(kRule, {{"one after another", fed(0.3), "note"},
                           {"little to copy", fed(0.02), "silent"},
                           {"at once", fed(0.3, 0.5), "silent"},
                           {"two threads", by_two_threads(), "silent"},
                           {"one device", with_device(), "silent"},
                           {"no device", sequential_map(), "not evaluated"},
                           {"the calls are not seen", without_calls(), "not evaluated"},
                           {"no steps", without_steps(), "not evaluated"}});
}

TEST_CASE("devices-fed-in-turn: thresholds") {
  check_thresholds(kRule,
                   {{"min_share", 0.02, [](double share) { return fed(share); }, at_least, "note"},
                    {"max_at_once", 0.03, [](double share) { return fed(0.3, share); }, at_most, "note"},
                    {"min_thread_share", 0.04, [](double share) { return fed(0.3, 0, share); }, at_least, "note"}});
}

TEST_CASE("devices-fed-in-turn: it names the thread") {
  CHECK(says(kRule, fed(0.3), "one thread ('python3') copies the batches to 2 devices one after another, for 30%"));
}

}  // namespace
}  // namespace doctor::rule_test::devices_fed_in_turn_test
