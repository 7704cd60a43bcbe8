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

TEST_CASE("missing-prefetch: situations") {
  check_situations(kRule,
                   {{"none", without_prefetch(), "warning"},
                    {"none, TF 1 root", MeasuredPipeline({"Model", "BatchV2", "Map"}).waits_for("Map"), "warning"},
                    {"none, waits a little", with_level(without_prefetch(), kMild), "warning"},
                    {"none, does not wait", with_level(without_prefetch(), kHealthy), "silent"},
                    {"present", sequential_map(), "silent"},
                    {"inserted by TF", injected_prefetch(), "note"},
                    {"inserted by TF, does not wait", with_level(injected_prefetch(), kHealthy), "silent"},
                    {"nothing seen inside", bare_get_next(), "not evaluated"},
                    {"only feeds another pipeline", feeding_another(), "silent"}});
}

TEST_CASE("missing-prefetch: thresholds") {
  check_thresholds(kRule, {});
}

TEST_CASE("missing-prefetch: a prefetch that TF inserted is named as such") {
  CHECK(says(kRule, injected_prefetch(), "TF inserted it"));
}

}  // namespace
}  // namespace doctor::rule_test::missing_prefetch_test
