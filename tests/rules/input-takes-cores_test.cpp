#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::input_takes_cores_test {
namespace {

constexpr std::string_view kRule = "input-takes-cores";

/// A job that does not wait, whose input and whatever else keep parts of four cores busy, and Python for a part of the
/// time.
MeasuredPipeline taking_cores(double input, double everything, double python = 0) {
  MeasuredPipeline pipeline = sequential_map();
  pipeline.waits_for("Map", 0.9, 0.01).uses_cores(0, 4);
  const auto part = [](double share) { return std::llround(share * static_cast<double>(kPicosecondsPerSecond)); };
  pipeline.pipeline().input_load = InputLoad{{0, kPicosecondsPerSecond}, part(4 * input), part(python), 4 * everything};
  return pipeline;
}

TEST_CASE("input-takes-cores: situations") {
  check_situations(kRule, {{"half of all cores, which are full", taking_cores(0.5, 1), "note"},
                           {"half of all cores, a quarter is idle", taking_cores(0.5, 0.75), "silent"},
                           {"hardly any of full cores", taking_cores(0.01, 1), "silent"},
                           {"mostly Python", taking_cores(0, 0.2, 0.9), "note"},
                           {"the job is input-bound", with_level(taking_cores(0.5, 1), 0.8), "silent"},
                           {"a device computes", with_device(taking_cores(0.5, 1)), "silent"},
                           {"not the first pipeline of its host", with_level(sequential_map(), kHealthy), "silent"},
                           {"no call seen", without_calls(), "not evaluated"}});
}

TEST_CASE("input-takes-cores: thresholds") {
  check_thresholds(kRule,
                   {{"min_utilization", 0.1, [](double share) { return taking_cores(0.5, share); }, at_least, "note"},
                    {"min_core_share", 0.05, [](double share) { return taking_cores(share, 1); }, at_least, "note"},
                    {"min_python_share", 0.1, [](double share) { return taking_cores(0, 0, share); }, above, "note"}});
}

}  // namespace
}  // namespace doctor::rule_test::input_takes_cores_test
