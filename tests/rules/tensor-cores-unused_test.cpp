#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::tensor_cores_unused_test {
namespace {

constexpr std::string_view kRule = "tensor-cores-unused";

TEST_CASE("tensor-cores-unused: situations") {
  check_situations(kRule, {{"unused", computing(0, 0.9), "note"},
                           {"used", computing(0, 0.9, 0.5), "silent"},
                           {"few eligible ops", computing(0, 0.1), "silent"},
                           {"a TF1 timeline", of_timeline(computing(0, 0.9)), "not evaluated"},
                           {"a job of JAX", of_jax(computing(0, 0.9)), "not evaluated"},
                           {"no device", sequential_map(), "not evaluated"},
                           {"no kernel", without_kernels(), "not evaluated"},
                           {"no op names", without_op_names(computing(0, 0.9)), "not evaluated"}});
}

TEST_CASE("tensor-cores-unused: thresholds") {
  check_thresholds(
      kRule, {{"min_eligible_share", 0.1, [](double share) { return computing(0, share); }, at_least, "note"},
              {"max_tensor_core_share", 0.05, [](double share) { return computing(0, 0.9, share); }, at_most, "note"}});
}

TEST_CASE("tensor-cores-unused: the device with most kernel time is reported for its host") {
  MeasuredPipeline pipeline = computing(0, 0.9);
  DeviceActivity idle = device_of(pipeline);
  idle.name = "/device:GPU:1";
  idle.kernel_sum /= 2;
  idle.tensor_core_eligible = 0;
  pipeline.host().device_profile.devices.push_back(idle);
  const Outcome outcome = ask(kRule, pipeline.measurements());
  REQUIRE(outcome.findings.size() == 1);
  CHECK(outcome.findings[0].subject == "/device:GPU:0");
}

}  // namespace
}  // namespace doctor::rule_test::tensor_cores_unused_test
