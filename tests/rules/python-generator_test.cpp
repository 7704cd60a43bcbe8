#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::python_generator_test {
namespace {

constexpr std::string_view kRule = "python-generator";

MeasuredPipeline device_hop() {
  MeasuredPipeline pipeline({"Root", "Prefetch", "Generator"});
  pipeline.waits_for("Generator");
  pipeline.pipeline().is_device = true;
  pipeline["Generator"].is_device_hop = true;
  return pipeline;
}

TEST_CASE("python-generator: situations") {
  check_situations(kRule, {{"a generator", python_generator(), "warning"},
                           {"only at the start", warming_up(python_generator()), "note"},
                           {"does not wait", with_level(python_generator(), kHealthy), "silent"},
                           {"a device pipeline's hop", device_hop(), "silent"},
                           {"nothing seen inside", bare_get_next(), "not evaluated"}});
}

/// The first code that is advised for a generator which was named after a line and what was called there.
std::optional<std::string> first_code(const std::string& dataset_name) {
  MeasuredPipeline pipeline = python_generator();
  pipeline["Generator"].dataset_name = dataset_name;
  return ask(kRule, pipeline.measurements()).findings.at(0).advice.at(0).code;
}

TEST_CASE("python-generator: what Keras makes batches with gets workers") {
  CHECK(first_code("at_train_py_L18_PyDataset")->starts_with("batches.workers = cores"));
  CHECK(first_code("at_train_py_L18_Sequence") == "model.fit(batches, workers=cores, use_multiprocessing=True)");
  CHECK(first_code("at_train_py_L18_from_generator")->starts_with("with tf.io.TFRecordWriter"));
}

TEST_CASE("python-generator: of what Keras makes, no generator is advised") {
  MeasuredPipeline pipeline = python_generator();
  CHECK(says(kRule, pipeline, "Make a generator for each part"));
  pipeline["Generator"].dataset_name = "at_train_py_L18_PyDataset";
  CHECK_FALSE(says(kRule, pipeline, "Make a generator for each part"));
}

TEST_CASE("python-generator: thresholds") {
  check_thresholds(kRule, {});
}

}  // namespace
}  // namespace doctor::rule_test::python_generator_test
