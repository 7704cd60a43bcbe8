#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::missing_prefetch_test {
namespace {

constexpr std::string_view kRule = "missing-prefetch";

MeasuredPipeline injected_prefetch() {
  MeasuredPipeline pipeline = sequential_map();
  pipeline["Prefetch"].dataset_name = "inject/prefetch_4_PrefetchDataset:5";
  return pipeline;
}

/// What Keras makes of a class that makes batches by their number.
MeasuredPipeline made_by_keras(const std::string& of_class) {
  MeasuredPipeline pipeline({"Root", "FlatMap", "Generator"});
  pipeline["Generator"].dataset_name = "at_train_py_L18_" + of_class;
  return pipeline.waits_for("Generator");
}

TEST_CASE("missing-prefetch: situations") {
  check_situations(kRule,
                   {{"none", without_prefetch(), "warning"},
                    {"none, TF 1 root", MeasuredPipeline({"Model", "BatchV2", "Map"}).waits_for("Map"), "warning"},
                    {"none, waits a little", with_level(without_prefetch(), kMild), "warning"},
                    {"none, does not wait", with_level(without_prefetch(), kHealthy), "silent"},
                    {"a generator of the user's", made_by_keras("from_generator"), "warning"},
                    {"made by Keras", made_by_keras("PyDataset"), "silent"},
                    {"made by Keras 2", made_by_keras("Sequence"), "silent"},
                    {"present", sequential_map(), "silent"},
                    {"inserted by TF", injected_prefetch(), "note"},
                    {"inserted by TF, does not wait", with_level(injected_prefetch(), kHealthy), "silent"},
                    {"nothing seen inside", bare_get_next(), "not evaluated"},
                    {"only feeds another pipeline", feeding_another(), "silent"}});
}

TEST_CASE("missing-prefetch: thresholds") {
  check_thresholds(kRule, {}, {"max_hidden_share", "max_cores_used"});  // below
}

TEST_CASE("missing-prefetch: a prefetch that TF inserted is named as such") {
  CHECK(says(kRule, injected_prefetch(), "TF inserted it"));
}

TEST_CASE("missing-prefetch: it comes first where a prefetch alone can hide the waits") {
  const auto is_easy = [](double share, double limit) {
    const Measurements measurements = with_level(without_prefetch(), share).measurements();
    const Diagnosis diagnosis =
        diagnose(measurements, all_rules(), {{"missing-prefetch", {{"max_hidden_share", limit}}}});
    const auto found = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                                    [](const Finding& finding) { return finding.rule == "missing-prefetch"; });
    REQUIRE(found != diagnosis.findings.end());
    return found->is_easy;
  };
  CHECK(is_easy(0.5, 0.5));
  CHECK_FALSE(is_easy(0.51, 0.5));
  CHECK(is_easy(0.51, 0.6));
  CHECK_FALSE(is_easy(0.5, 0.4));
}

TEST_CASE("missing-prefetch: it does not come first where the cores are in use already") {
  const auto is_easy = [](double busy, double limit) {
    const Measurements measurements = with_level(without_prefetch(), 0.4).uses_cores(4 * busy, 4).measurements();
    const Diagnosis diagnosis =
        diagnose(measurements, all_rules(), {{"missing-prefetch", {{"max_cores_used", limit}}}});
    const auto found = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                                    [](const Finding& finding) { return finding.rule == "missing-prefetch"; });
    REQUIRE(found != diagnosis.findings.end());
    return found->is_easy;
  };
  CHECK(is_easy(0.5, 0.55));
  CHECK_FALSE(is_easy(0.6, 0.55));
  CHECK(is_easy(0.6, 0.7));
}

}  // namespace
}  // namespace doctor::rule_test::missing_prefetch_test
