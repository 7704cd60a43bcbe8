#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::time_outside_ops_test {
namespace {

constexpr std::string_view kRule = "time-outside-ops";

/// Steps of `step_ms`, of which such a part is nothing that TensorFlow records.
MeasuredPipeline outside(double share, double step_ms = 100) {
  MeasuredPipeline pipeline = with_device();
  for (StepMeasurement& step : pipeline.host().steps.steps) {
    step.span = {0, std::llround(step_ms * static_cast<double>(kPicosecondsPerMillisecond))};
    step.parts[static_cast<std::size_t>(StepPart::other)] = std::llround(share * static_cast<double>(step.span.end));
  }
  return pipeline;
}

MeasuredPipeline without_steps() {
  MeasuredPipeline pipeline = outside(0.5);
  pipeline.host().steps = {};
  return pipeline;
}

MeasuredPipeline of_timelines() {
  MeasuredPipeline pipeline = outside(0.5);
  pipeline.host().device_profile.is_aligned = false;
  return pipeline;
}

TEST_CASE("time-outside-ops: situations") {
  check_situations(kRule, {{"half of the step", outside(0.5), "note"},
                           {"a tenth", outside(0.1), "silent"},
                           {"short steps", outside(0.5, 0.8), "silent"},
                           {"no device", sequential_map(), "not evaluated"},
                           {"no kernel", without_kernels(), "not evaluated"},
                           {"no steps", without_steps(), "not evaluated"},
                           {"TF1 timelines", of_timelines(), "not evaluated"}});
}

TEST_CASE("time-outside-ops: thresholds") {
  check_thresholds(kRule, {{"min_share", 0.04, [](double share) { return outside(share); }, at_least, "note"},
                           {"min_time", 100, [](double time) { return outside(0.5, time / 500); }, at_least, "note"}});
}

}  // namespace
}  // namespace doctor::rule_test::time_outside_ops_test
