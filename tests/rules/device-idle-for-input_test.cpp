#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::device_idle_for_input_test {
namespace {

constexpr std::string_view kRule = "device-idle-for-input";

TEST_CASE("device-idle-for-input: situations") {
  check_situations(kRule, {{"idles", exposed(0.5), "warning"},
                           {"idles a little", exposed(0.1), "note"},
                           {"works meanwhile", exposed(0.01), "silent"},
                           {"no device", sequential_map(), "not evaluated"},
                           {"no device, no call seen", without_calls(), "not evaluated"},
                           {"no kernel", without_kernels(), "not evaluated"}});
}

TEST_CASE("device-idle-for-input: thresholds") {
  check_thresholds(kRule, {{"min_share", 0.05, exposed, at_least, "warning", "note"},
                           {"min_mild_share", 0.02, exposed, at_least, "note"}});
}

}  // namespace
}  // namespace doctor::rule_test::device_idle_for_input_test
