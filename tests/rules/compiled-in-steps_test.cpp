#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::compiled_in_steps_test {
namespace {

constexpr std::string_view kRule = "compiled-in-steps";

/// Ten steps of 100 ms. XLA compiles in the first `steps` of them, for such a part of all.
MeasuredPipeline compiled(double steps, double share) {
  MeasuredPipeline pipeline = with_steps(sequential_map());
  pipeline.host().profile->host.xla = in_steps(steps, share);
  return pipeline;
}

MeasuredPipeline without_steps() {
  MeasuredPipeline pipeline = compiled(5, 0.1);
  pipeline.host().steps = {};
  return pipeline;
}

TEST_CASE("compiled-in-steps: situations") {
  check_situations(kRule, {{"in five steps", compiled(5, 0.1), "note"},
                           {"for long", compiled(5, 0.4), "warning"},
                           {"in one step", compiled(1, 0.05), "silent"},
                           {"for a short time", compiled(5, 0.01), "silent"},
                           {"never", with_steps(sequential_map()), "silent"},
                           {"no second reading", sequential_map(), "silent"},
                           {"no steps", without_steps(), "not evaluated"}});
}

TEST_CASE("compiled-in-steps: thresholds") {
  check_thresholds(
      kRule, {{"min_steps", 1, [](double steps) { return compiled(steps, 0.05); }, at_least, "note"},
              {"min_share", 0.01, [](double share) { return compiled(5, share); }, at_least, "note"},
              {"min_high_share", 0.04, [](double share) { return compiled(5, share); }, at_least, "warning", "note"}});
}

}  // namespace
}  // namespace doctor::rule_test::compiled_in_steps_test
