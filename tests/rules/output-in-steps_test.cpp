#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::output_in_steps_test {
namespace {

constexpr std::string_view kRule = "output-in-steps";

/// Ten steps of 100 ms. In the first `steps` of them something is written, for such a part of all.
MeasuredPipeline written(double steps, double share) {
  MeasuredPipeline pipeline = with_steps(sequential_map());
  pipeline.host().profile->host.output = in_steps(steps, share);
  return pipeline;
}

MeasuredPipeline without_steps() {
  MeasuredPipeline pipeline = written(5, 0.1);
  pipeline.host().steps = {};
  return pipeline;
}

TEST_CASE("output-in-steps: situations") {
  check_situations(kRule, {{"in five steps", written(5, 0.1), "note"},
                           {"for long", written(5, 0.4), "warning"},
                           {"in one step", written(1, 0.08), "silent"},
                           {"for a short time", written(5, 0.02), "silent"},
                           {"never", with_steps(sequential_map()), "silent"},
                           {"no second reading", sequential_map(), "silent"},
                           {"no steps", without_steps(), "not evaluated"}});
}

TEST_CASE("output-in-steps: thresholds") {
  check_thresholds(
      kRule, {{"min_steps", 1, [](double steps) { return written(steps, 0.08); }, at_least, "note"},
              {"min_share", 0.02, [](double share) { return written(5, share); }, at_least, "note"},
              {"min_high_share", 0.04, [](double share) { return written(5, share); }, at_least, "warning", "note"}});
}

}  // namespace
}  // namespace doctor::rule_test::output_in_steps_test
