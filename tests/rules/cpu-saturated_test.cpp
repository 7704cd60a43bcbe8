#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::cpu_saturated_test {
namespace {

constexpr std::string_view kRule = "cpu-saturated";

TEST_CASE("cpu-saturated: situations") {
  check_situations(kRule, {{"busy cores", parallel_map(1.0), "warning"},
                           {"idle cores", parallel_map(0.1), "silent"},
                           {"a sequential map", sequential_map().uses_cores(4, 4), "silent"},
                           {"cores unknown", without_budget(), "not evaluated"}});
}

TEST_CASE("cpu-saturated: thresholds") {
  check_thresholds(kRule, {{"min_utilization", 0.1, parallel_map, at_least}});
}

TEST_CASE("cpu-saturated: it advises against threads inside ops, unless there are none") {
  CHECK(says(kRule, parallel_map(1), "max_intra_op_parallelism"));
  CHECK_FALSE(says(kRule, parallel_map(1).sets("Root", "intra_op_parallelism", 1), "max_intra_op_parallelism"));
  CHECK(says(kRule, parallel_map(1), "dataset.cache()"));
}

}  // namespace
}  // namespace doctor::rule_test::cpu_saturated_test
