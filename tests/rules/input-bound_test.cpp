#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::input_bound_test {
namespace {

constexpr std::string_view kRule = "input-bound";

/// Ten calls that all wait alike: what is not sure of them is what the trace does not explain.
MeasuredPipeline sure_to(double confidence) {
  constexpr double kOfTenCalls = 10 / 11.5;
  MeasuredPipeline pipeline = sequential_map();
  // A little more, so that no rounding decides at the threshold itself.
  pipeline.waits_for("Map", (confidence + 1e-6) / kOfTenCalls);
  pipeline.pipeline().steady.critical[IteratorId{0}] = 0;
  return pipeline;
}

TEST_CASE("input-bound: situations") {
  check_situations(kRule, {{"waits most of the time", sequential_map(), "warning"},
                           {"waits a little", with_level(sequential_map(), kMild), "note"},
                           {"does not wait", with_level(sequential_map(), kHealthy), "silent"},
                           {"waits, nothing seen inside", bare_get_next(), "warning"},
                           {"only feeds another pipeline", feeding_another(), "silent"},
                           {"no call seen", without_calls(), "not evaluated"},
                           {"waits, a device works meanwhile", exposed(0.01), "silent"},
                           {"waits, a device idles a little meanwhile", exposed(0.1), "note"},
                           {"waits, a device idles meanwhile", exposed(0.5), "warning"}});
}

TEST_CASE("input-bound: thresholds") {
  check_thresholds(
      kRule,
      {{"min_share", 0.1, [](double share) { return with_level(sequential_map(), share); }, at_least, "warning",
        "note"},
       {"min_mild_share", 0.02, [](double share) { return with_level(sequential_map(), share); }, at_least, "note"},
       {"min_latency", 10,
        [](double microseconds) {
          MeasuredPipeline pipeline = sequential_map();
          pipeline.pipeline().trimmed_mean = std::llround(microseconds * 1e6);
          return pipeline;
        },
        above},
       {"min_confidence", 0.1, sure_to, at_least, "warning", "not evaluated"}},
      // They decide who the culprit is and what limits it: verdict_thresholds_test.cpp.
      {"min_culprit_share", "min_thread_share", "min_input_thread_share", "min_thread_lead", "max_python_share",
       "min_file_share",
       // Of steps that the trace does not show: confidence_test.cpp.
       "min_other_share", "max_stored_share",
       // What a model says: throughput_test.cpp.
       "min_cores_taken", "min_gain",
       // Of budgets: gate_test.cpp.
       "min_budget_confidence"});
}

}  // namespace
}  // namespace doctor::rule_test::input_bound_test
