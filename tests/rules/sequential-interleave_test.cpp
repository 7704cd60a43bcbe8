#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::sequential_interleave_test {
namespace {

constexpr std::string_view kRule = "sequential-interleave";

TEST_CASE("sequential-interleave: situations") {
  check_situations(
      kRule, {{"above the culprit", interleaved("Interleave"), "warning"},
              {"waits a little", with_level(interleaved("Interleave"), kMild), "silent"},
              {"parallel", interleaved("ParallelInterleaveV4"), "silent"},
              {"one element of each of its datasets", map_in_datasets(20, 1), "warning"},
              {"a flat_map, one element of each of its datasets", map_in_datasets(20, 1, "FlatMap"), "warning"},
              {"a flat_map, several elements of each", map_in_datasets(20, 8, "FlatMap"), "silent"},
              {"below the culprit",
               MeasuredPipeline({"Root", "Prefetch", "Map", "Interleave", "TFRecord"}).waits_for("Map"), "silent"},
              {"no call seen", without_calls(), "not evaluated"}});
}

TEST_CASE("sequential-interleave: thresholds") {
  check_thresholds(
      kRule, {{"min_culprit_share", 0.1, [](double share) { return interleaved("Interleave", share); }, at_least}});
}

TEST_CASE("sequential-interleave: parents in a circle end in no loop") {
  MeasuredPipeline circle = interleaved("Map");
  circle["Map"].parent = circle.id_of("TFRecord");
  circle["TFRecord"].children = {circle.id_of("Map")};
  CHECK(answer(kRule, circle.measurements()) == "silent");
}

}  // namespace
}  // namespace doctor::rule_test::sequential_interleave_test
