#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::unvectorized_map_test {
namespace {

constexpr std::string_view kRule = "unvectorized-map";

MeasuredPipeline many_unseen_calls() {
  MeasuredPipeline pipeline = many_calls(250, 20, 1);
  pipeline.pipeline().steady.in_function = {};
  return pipeline;
}

/// Such calls of a map that TF fused with the batch after it, four at once.
MeasuredPipeline many_fused_calls(std::uint64_t per_get_next, double call_us) {
  MeasuredPipeline pipeline = fused_map(4);
  const std::uint64_t calls = per_get_next * 10;
  pipeline["MapAndBatch"].calls = 10;
  pipeline["MapAndBatch"].total = std::llround(call_us * 1e6 * static_cast<double>(calls) / 4);
  pipeline["TFRecord"].calls = calls;
  PhaseMeasurement& steady = pipeline.pipeline().steady;
  steady.in_function[steady.culprit] = 1;
  return pipeline;
}

/// Calls that do nothing but work, most of it parsing a record of `parse_us`.
MeasuredPipeline parsing_calls(double parse_us) {
  MeasuredPipeline pipeline = many_calls(250, 30, 0);
  const PhaseMeasurement& steady = pipeline.pipeline().steady;
  const Picoseconds time = steady.critical[steady.culprit];
  pipeline.runs({{"ParseExampleV2", time * 7 / 10}, {"ConcatV2", time * 3 / 10}});
  pipeline["Map"].function_ops = {
      {"ParseExampleV2", std::llround(parse_us * 1e6 * static_cast<double>(pipeline["Map"].calls))}};
  return pipeline;
}

/// Such a map inside of a function of Keras, whose line is known.
MeasuredPipeline inside_of_helper() {
  MeasuredPipeline pipeline = many_calls(250, 20, 1);
  pipeline["Map"].dataset_name = "at_train_py_L224_timeseries_dataset_from_array";
  return pipeline;
}

TEST_CASE("unvectorized-map: situations") {
  check_situations(kRule, {{"many tiny calls", many_calls(250, 20, 1), "warning"},
                           {"waits a little", with_level(many_calls(250, 20, 1), kMild), "silent"},
                           {"few calls", many_calls(10, 20, 1), "silent"},
                           {"long calls, all of it overhead", many_calls(250, 500, 1), "warning"},
                           {"a window of few calls, large batches",
                            many_calls(10, 20, 1).sets("BatchV2", "batch_size", 256), "warning"},
                           {"short calls that work", many_calls(250, 20, 0.1), "silent"},
                           {"fused, many tiny calls", many_fused_calls(250, 20), "warning"},
                           {"fused, few calls", many_fused_calls(10, 20), "silent"},
                           {"fused, long calls", many_fused_calls(250, 500), "warning"},
                           {"calls not in the trace", many_unseen_calls(), "not evaluated"},
                           {"records parsed one at a time", parsing_calls(20), "warning"},
                           {"large records parsed one at a time", parsing_calls(300), "silent"},
                           {"inside of a helper of Keras", inside_of_helper(), "silent"},
                           {"a filter", filter(1000), "silent"},
                           {"nothing seen inside", bare_get_next(), "not evaluated"}});
}

TEST_CASE("unvectorized-map: thresholds") {
  check_thresholds(kRule,
                   {{"min_calls", 10, [](double calls) { return many_calls(calls, 20, 1); }, at_least},
                    {"max_parse_time", 10, parsing_calls, at_most},
                    {"min_overhead_share", 0.1, [](double share) { return many_calls(250, 20, share); }, at_least}});
}

TEST_CASE("unvectorized-map: what parses records works on batches") {
  CHECK(says(kRule, parsing_calls(20), "tf.io.parse_example"));
  CHECK(says(kRule, parsing_calls(20), "parses one record at a time for 70% of that time"));
  CHECK_FALSE(says(kRule, many_calls(250, 20, 1), "tf.io.parse_example"));
}

}  // namespace
}  // namespace doctor::rule_test::unvectorized_map_test
