#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::function_retraced_test {
namespace {

constexpr std::string_view kRule = "function-retraced";

/// Ten steps of 100 ms. A function is traced in the first `times` of those that count, for such a part of all of them.
MeasuredPipeline traced(double times, double share) {
  MeasuredPipeline pipeline = with_steps(sequential_map());
  HostActivity& activity = pipeline.host().profile->host;
  const auto length = kPicosecondsPerSecond / 10;
  const auto count = static_cast<std::int64_t>(std::llround(times));
  activity.tracings.push_back({{-length, -length + 1}, "train_step", 1});
  for (std::int64_t time = 0; time < count; ++time) {
    const Picoseconds tracing = std::llround(share * static_cast<double>(10 * length) / times);
    activity.tracings.push_back({{time * length, time * length + tracing}, "train_step", time + 2});
  }
  return pipeline;
}

MeasuredPipeline without_names() {
  MeasuredPipeline pipeline = traced(5, 0.1);
  for (FunctionTracing& tracing : pipeline.host().profile->host.tracings) tracing.function.clear();
  return pipeline;
}

/// Traced for the first time in the window, once each: a warm-up.
MeasuredPipeline first_ones() {
  MeasuredPipeline pipeline = traced(5, 0.1);
  int index = 0;
  for (FunctionTracing& tracing : pipeline.host().profile->host.tracings) {
    tracing = {tracing.span, "function_" + std::to_string(index++), std::nullopt};
  }
  return pipeline;
}

TEST_CASE("function-retraced: situations") {
  check_situations(kRule, {{"in five steps", traced(5, 0.1), "note"},
                           {"for long", traced(5, 0.5), "warning"},
                           {"once", traced(1, 0.1), "silent"},
                           {"for a short time", traced(5, 0.01), "silent"},
                           {"by nobody", without_names(), "silent"},
                           {"each for the first time", first_ones(), "silent"},
                           {"no second reading", sequential_map(), "silent"}});
}

TEST_CASE("function-retraced: thresholds") {
  check_thresholds(
      kRule, {{"min_times", 1, [](double times) { return traced(times, 0.1); }, at_least, "note"},
              {"min_share", 0.01, [](double share) { return traced(5, share); }, at_least, "note"},
              {"min_high_share", 0.04, [](double share) { return traced(5, share); }, at_least, "warning", "note"}});
}

TEST_CASE("function-retraced: it names the function") {
  CHECK(says(kRule, traced(5, 0.1), "'train_step' is traced to a graph again and again: 5 times"));
}

}  // namespace
}  // namespace doctor::rule_test::function_retraced_test
