#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::no_input_pipeline_test {
namespace {

constexpr std::string_view kRule = "no-input-pipeline";

MeasuredPipeline without_events() {
  MeasuredPipeline pipeline = without_tf_data();
  pipeline.host().event_count = 0;
  return pipeline;
}

TEST_CASE("no-input-pipeline: situations") {
  check_situations(kRule, {{"events without tf.data", without_tf_data(), "warning"},
                           {"iterators", without_calls(), "silent"},
                           {"a pipeline", sequential_map(), "silent"},
                           {"no events", without_events(), "not evaluated"},
                           {"damaged", damaged(without_tf_data()), "not evaluated"}});
}

TEST_CASE("no-input-pipeline: thresholds") {
  check_thresholds(kRule, {});
}

}  // namespace
}  // namespace doctor::rule_test::no_input_pipeline_test
