#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

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
  CHECK(first_code("at_train_py_L18_from_generator")->starts_with("dataset = tf.data.Dataset.from_generator("));
}

TEST_CASE("python-generator: of what Keras makes, no generator is advised") {
  MeasuredPipeline pipeline = python_generator();
  CHECK(says(kRule, pipeline, "Make one for each part"));
  pipeline["Generator"].dataset_name = "at_train_py_L18_PyDataset";
  CHECK_FALSE(says(kRule, pipeline, "Make one for each part"));
}

/// A generator of batches of so many elements, with such a part of its time outside of ops.
MeasuredPipeline generator_of(std::int64_t elements, double overhead) {
  MeasuredPipeline pipeline = python_generator().sets("BatchV2", "batch_size", elements);
  PhaseMeasurement& steady = pipeline.pipeline().steady;
  const Picoseconds time = steady.critical[steady.culprit];
  steady.in_function[steady.culprit] = time;
  return pipeline.runs({{"PyFunc", std::llround((1 - overhead) * static_cast<double>(time))}});
}

MeasuredPipeline with_lock(MeasuredPipeline pipeline, PythonLock lock) {
  pipeline.host().cycles.python_lock = lock;
  return pipeline;
}

std::string first_text(const MeasuredPipeline& pipeline, const ThresholdSettings& settings = {}) {
  return ask(kRule, pipeline.measurements(), settings).findings.at(0).advice.at(0).text.whole();
}

TEST_CASE("python-generator: threads are for one that waits, whoever had Python's lock") {
  for (const PythonLock lock : {PythonLock::held, PythonLock::unknown, PythonLock::released}) {
    const MeasuredPipeline slow = with_lock(generator_of(32, 0.05), lock);
    CHECK(first_text(slow).starts_with("Move what the generator computes"));
    CHECK(says(kRule, slow, "If the generator sleeps or waits"));
  }
}

TEST_CASE("python-generator: one of small elements yields batches") {
  for (const PythonLock lock : {PythonLock::held, PythonLock::unknown, PythonLock::released}) {
    CHECK(first_text(with_lock(generator_of(32, 0.35), lock)).starts_with("Let the generator yield whole batches"));
  }
  const auto yields = [](std::int64_t elements, double overhead, const ThresholdSettings& settings) {
    return first_text(generator_of(elements, overhead), settings).starts_with("Let the generator yield");
  };
  CHECK_FALSE(yields(7, 0.35, {}));
  CHECK(yields(8, 0.35, {}));
  CHECK_FALSE(yields(32, 0.24, {}));
  CHECK(yields(32, 0.26, {}));
  CHECK_FALSE(yields(32, 0.35, {{"python-generator", {{"min_overhead_share", 0.4}}}}));
}

TEST_CASE("python-generator: thresholds") {
  check_thresholds(kRule, {}, {"min_overhead_share"});  // of what is advised, not whether: above
}

}  // namespace
}  // namespace doctor::rule_test::python_generator_test
