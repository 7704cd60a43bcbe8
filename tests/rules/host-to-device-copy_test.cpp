#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::host_to_device_copy_test {
namespace {

constexpr std::string_view kRule = "host-to-device-copy";

MeasuredPipeline copying(double uncovered_share) {
  MeasuredPipeline pipeline = with_device();
  device_of(pipeline).to_device = {100, 1'000'000, kPicosecondsPerSecond / 2};
  device_of(pipeline).uncovered_copies_to_device = part_of_second(uncovered_share);
  return pipeline;
}

/// JAX's runtime brings the arrays into pinned memory while the device waits; the copies themselves are short.
MeasuredPipeline preparing(double share) {
  MeasuredPipeline pipeline = copying(0.01);
  DeviceActivity& device = device_of(pipeline);
  device.to_device = {40, 3'000'000'000, part_of_second(0.05)};
  device.computing = {{0, part_of_second(0.1)}};
  pipeline.host().profile.emplace().host.staging = {{part_of_second(0.1), part_of_second(0.1 + share)}};
  return pipeline;
}

TEST_CASE("host-to-device-copy: situations") {
  check_situations(kRule, {{"copies", copying(0.5), "warning"},
                           {"copies a little", copying(0.1), "note"},
                           {"kernels run meanwhile", copying(0.01), "silent"},
                           {"JAX prepares what it copies", preparing(0.6), "note"},
                           {"JAX prepares a little", preparing(0.15), "silent"},
                           {"no copies", with_device(), "silent"},
                           {"no device", sequential_map(), "not evaluated"},
                           {"no kernel", without_kernels(), "not evaluated"},
                           {"a TF1 timeline", of_timeline(copying(0.5)), "not evaluated"}});
}

TEST_CASE("host-to-device-copy: what JAX copies has its bytes, its rate and advice of its own") {
  for (const char* const text : {" a step, 5.00 GB/s", "60%", "uint8", "device_put"}) {
    CAPTURE(text);
    CHECK(says(kRule, preparing(0.6), text));
  }
  CHECK_FALSE(says(kRule, preparing(0.6), "prefetch_to_device"));
}

TEST_CASE("host-to-device-copy: thresholds") {
  check_thresholds(kRule, {{"min_share", 0.05, copying, at_least, "warning", "note"},
                           {"min_mild_share", 0.02, copying, at_least, "note"}});
}

}  // namespace
}  // namespace doctor::rule_test::host_to_device_copy_test
