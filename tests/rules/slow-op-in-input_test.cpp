#include <doctest/doctest.h>

#include <cmath>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::slow_op_in_input_test {
namespace {

constexpr std::string_view kRule = "slow-op-in-input";

/// A GetNext of session runs without iterators, with an op beside it for a share of the wait.
MeasuredPipeline session(const std::string& op, double share) {
  MeasuredPipeline pipeline = bare_get_next();
  pipeline.host().has_session_runs = true;
  PhaseMeasurement& steady = pipeline.pipeline().steady;
  steady.beside = {{kNoIterator, op, std::llround(share * static_cast<double>(steady.waited))}};
  return pipeline;
}

MeasuredPipeline of_tf2() {
  MeasuredPipeline pipeline = session("MatchingFiles", 0.9);
  pipeline.host().has_session_runs = false;
  return pipeline;
}

TEST_CASE("slow-op-in-input: situations") {
  check_situations(kRule, {{"MatchingFiles over GetNext", session("MatchingFiles", 0.9), "warning"},
                           {"an op that runs a little", session("MatchingFiles", 0.1), "silent"},
                           {"not a session", of_tf2(), "silent"},
                           {"iterators are seen", sequential_map(), "silent"},
                           {"no call seen", without_calls(), "not evaluated"}});
}

TEST_CASE("slow-op-in-input: the advice is for the op, in the words of TF 1.15") {
  CHECK(says(kRule, session("MatchingFiles", 0.9), "manifest"));
  CHECK(says(kRule, session("PyFunc", 0.9), "f_in_tf_ops"));
  CHECK(says(kRule, session("DecodeJpeg", 0.9), "num_parallel_calls=tf.data.experimental.AUTOTUNE"));
}

TEST_CASE("slow-op-in-input: thresholds") {
  check_thresholds(kRule, {{"min_share", 0.1, [](double share) { return session("MatchingFiles", share); }, at_least}});
}

}  // namespace
}  // namespace doctor::rule_test::slow_op_in_input_test
