#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::kernel_launch_bound_test {
namespace {

constexpr std::string_view kRule = "kernel-launch-bound";

MeasuredPipeline launching(double share, double median_us = 20) {
  MeasuredPipeline pipeline = with_device();
  for (StepMeasurement& step : pipeline.host().steps.steps) {
    step.parts[static_cast<std::size_t>(StepPart::kernel_launch)] = part_of_second(share / 10);
  }
  device_of(pipeline).median_kernel = std::llround(median_us * 1e6);
  return pipeline;
}

MeasuredPipeline without_steps() {
  MeasuredPipeline pipeline = launching(0.2);
  pipeline.host().steps = {};
  return pipeline;
}

MeasuredPipeline of_timelines() {
  MeasuredPipeline pipeline = launching(0.2);
  pipeline.host().device_profile.is_aligned = false;
  return pipeline;
}

TEST_CASE("kernel-launch-bound: situations") {
  check_situations(kRule, {{"gaps", launching(0.2), "note"},
                           {"few gaps", launching(0.02), "silent"},
                           {"long kernels", launching(0.2, 500), "silent"},
                           {"no device", sequential_map(), "not evaluated"},
                           {"no kernel", without_kernels(), "not evaluated"},
                           {"no steps", without_steps(), "not evaluated"},
                           {"TF1 timelines", of_timelines(), "not evaluated"}});
}

TEST_CASE("kernel-launch-bound: thresholds") {
  // The other: "much launching is said to be a lot", below.
  check_thresholds(kRule,
                   {{"min_share", 0.01, [](double share) { return launching(share); }, at_least, "note"},
                    {"max_median_kernel", 10, [](double median) { return launching(0.2, median); }, at_most, "note"}},
                   {"min_high_share"});
}

TEST_CASE("kernel-launch-bound: much launching is said to be a lot") {
  CHECK(says(kRule, launching(0.15), "which is a lot"));
  CHECK_FALSE(says(kRule, launching(0.14), "which is a lot"));
  CHECK(says(kRule, launching(0.14), "which is a lot", {{"kernel-launch-bound", {{"min_high_share", 0.1}}}}));
  CHECK(says(kRule, launching(0.2), "gpu_private"));
}

}  // namespace
}  // namespace doctor::rule_test::kernel_launch_bound_test
