#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::truncated_window_test {
namespace {

constexpr std::string_view kRule = "truncated-window";

TEST_CASE("truncated-window: situations") {
  check_situations(kRule, {{"no call of a consumer", without_calls(), "warning"},
                           {"half of the wait unseen", unseen(0.5), "warning"},
                           {"half of it unseen, waits a little", with_level(unseen(0.5), kMild), "silent"},
                           {"all of it seen", sequential_map(), "silent"},
                           {"no tf.data", without_tf_data(), "not evaluated"}});
}

TEST_CASE("truncated-window: thresholds") {
  check_thresholds(kRule, {{"max_unseen_share", 0.1, unseen, above}});
}

TEST_CASE("truncated-window: it shows how to record") {
  CHECK(says(kRule, without_calls(), "Record 30 steps or more"));
  CHECK(says(kRule, unseen(0.5), "Record 30 steps or more"));
  CHECK(says(kRule, unseen(0.5), "python -m tfdata_doctor --batches 11-40 train.py"));
}

}  // namespace
}  // namespace doctor::rule_test::truncated_window_test
