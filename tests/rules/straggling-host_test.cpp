#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::straggling_host_test {
namespace {

constexpr std::string_view kRule = "straggling-host";

TEST_CASE("straggling-host: situations") {
  check_situations(kRule, {{"one host; for several see host_comparison_test.cpp", sequential_map(), "silent"}});
}

TEST_CASE("straggling-host: thresholds") {
  // "each threshold of the straggler decides", host_comparison_test.cpp
  check_thresholds(kRule, {}, {"min_ratio", "min_share_above"});
}

}  // namespace
}  // namespace doctor::rule_test::straggling_host_test
