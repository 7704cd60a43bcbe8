#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::sequential_map_test {
namespace {

constexpr std::string_view kRule = "sequential-map";

TEST_CASE("sequential-map: situations") {
  check_situations(kRule,
                   {{"a map", sequential_map(), "warning"},
                    {"a map, waits a little", with_level(sequential_map(), kMild), "warning"},
                    {"a map, does not wait", with_level(sequential_map(), kHealthy), "silent"},
                    {"fused, parallelism 1", fused_map(1), "warning"},
                    {"fused, parallelism 2", fused_map(2), "silent"},
                    {"a parallel map", parallel_map(0.1), "silent"},
                    {"one element of each of many datasets", map_in_datasets(20, 1), "silent"},
                    {"several elements of each", map_in_datasets(20, 8), "warning"},
                    {"datasets that the window cuts", map_in_datasets(6, 1), "warning"},
                    {"nothing seen inside", bare_get_next(), "not evaluated"},
                    {"fused, AUTOTUNE chose 1", fused_map(1).sets("MapAndBatch", "autotune", "true"), "silent"}});
}

TEST_CASE("sequential-map: thresholds") {
  // The other: "a caution comes at its threshold", below.
  check_thresholds(
      kRule,
      {{"min_culprit_share", 0.1, [](double share) { return sequential_map().waits_for("Map", share); }, at_least}},
      {"min_utilization_for_caution"});
}

TEST_CASE("sequential-map: it speaks in the user's terms") {
  CHECK(says(kRule, fused_map(1), "map + batch, which runs one call at a time"));
  CHECK(says(kRule, sequential_map(), "Dataset.map, which runs one call at a time"));
}

TEST_CASE("sequential-map: a caution comes at its threshold") {
  CHECK(says(kRule, sequential_map().uses_cores(3.2, 4), "3.2 of 4 cores"));
  const auto warns = [](double utilization, const ThresholdSettings& settings) {
    return says(kRule, sequential_map().uses_cores(4 * utilization, 4), "cores", settings);
  };
  CHECK(warns(0.8, {}));
  CHECK_FALSE(warns(0.79, {}));
  for (const double limit : {0.25, 0.5, 1.0}) {
    CAPTURE(limit);
    const ThresholdSettings set = {{"sequential-map", {{"min_utilization_for_caution", limit}}}};
    CHECK(warns(limit, set));
    CHECK_FALSE(warns(limit - 0.01, set));
  }
}

TEST_CASE("sequential-map: a caution says who uses the cores") {
  MeasuredPipeline pipeline = sequential_map().uses_cores(1, 4);
  CHECK_FALSE(says(kRule, pipeline, "cores are already busy"));
  pipeline.pipeline().cores_of_others = 2.5;
  CHECK(says(kRule, pipeline, "3.5 of 4 cores are already busy during the waits: other programs use most of them"));
  CHECK(says(kRule, sequential_map().uses_cores(3.5, 4), "the function's ops use several"));
}

TEST_CASE("sequential-map: under Python's lock the parallel form is not a line to paste") {
  const Outcome python = ask(kRule, python_map(0.9).measurements());
  REQUIRE(python.findings.size() == 1);
  CHECK(mentions(python.findings[0], "if its Python function sleeps or waits"));
  CHECK_FALSE(python.findings[0].advice.front().code.has_value());
  CHECK_FALSE(says(kRule, python_map(0.4), "if its Python function"));
}

}  // namespace
}  // namespace doctor::rule_test::sequential_map_test
