#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::full_precision_test {
namespace {

constexpr std::string_view kRule = "full-precision";

TEST_CASE("full-precision: situations") {
  check_situations(kRule, {{"32 bits", computing(0, 0.9), "note"},
                           {"16 bits", computing(0.9, 0.9), "silent"},
                           {"32 bits, few eligible ops", computing(0, 0.1), "silent"},
                           {"a TF1 timeline", of_timeline(computing(0, 0.9)), "not evaluated"},
                           {"a job of JAX", of_jax(computing(0, 0.9)), "not evaluated"},
                           {"no device", sequential_map(), "not evaluated"},
                           {"no kernel", without_kernels(), "not evaluated"},
                           {"no op names", without_op_names(computing(0, 0.9)), "not evaluated"}});
}

TEST_CASE("full-precision: thresholds") {
  check_thresholds(kRule,
                   {{"max_half_share", 0.05, [](double share) { return computing(share, 0.9); }, at_most, "note"},
                    {"min_eligible_share", 0.1, [](double share) { return computing(0, share); }, at_least, "note"}});
}

}  // namespace
}  // namespace doctor::rule_test::full_precision_test
