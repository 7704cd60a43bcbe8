#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::damaged_trace_test {
namespace {

constexpr std::string_view kRule = "damaged-trace";

TEST_CASE("damaged-trace: situations") {
  check_situations(kRule, {{"damaged", damaged(sequential_map()), "warning"},
                           {"damaged, no tf.data", damaged(without_tf_data()), "warning"},
                           {"complete", sequential_map(), "silent"}});
}

TEST_CASE("damaged-trace: thresholds") {
  check_thresholds(kRule, {});
}

TEST_CASE("damaged-trace: an empty list of hosts is not evaluated") {
  CHECK(answer(kRule, Measurements()) == "not evaluated");
}

}  // namespace
}  // namespace doctor::rule_test::damaged_trace_test
