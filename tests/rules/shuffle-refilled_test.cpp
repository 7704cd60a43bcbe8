#include <doctest/doctest.h>

#include <cmath>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::shuffle_refilled_test {
namespace {

constexpr std::string_view kRule = "shuffle-refilled";

/// A shuffle of 1,000 elements that reads so many before the first comes out, which takes that share of the window.
MeasuredPipeline filling(std::uint64_t elements, double share = 0.2, std::int64_t buffer_size = 1000) {
  MeasuredPipeline pipeline({"Root", "Prefetch", "ForeverRepeat", "BatchV2", "ShuffleV3", "TFRecord"});
  pipeline.waits_for("TFRecord");
  const double window = static_cast<double>(pipeline.host().window);
  pipeline.pipeline().shuffle_fill =
      ShuffleFill{pipeline.id_of("ShuffleV3"), elements, std::llround(share * window), buffer_size};
  return pipeline;
}

TEST_CASE("shuffle-refilled: situations") {
  check_situations(kRule, {{"filled three times", filling(3000), "warning"},
                           {"nobody waits", with_level(filling(3000), kHealthy), "silent"},
                           {"filled once", filling(1000), "silent"},
                           {"filled in no time", filling(3000, 0.01), "silent"},
                           {"of unknown size", filling(3000, 0.2, -1), "silent"},
                           {"full", sequential_map(), "silent"},
                           {"no call seen", without_calls(), "not evaluated"}});
}

TEST_CASE("shuffle-refilled: takes the place of shuffle-fill") {
  CHECK(says(kRule, filling(3000), "3 times of 1,000 elements in the window"));
  CHECK(answer("shuffle-fill", filling(3000).measurements()) == "silent");
  CHECK(answer("shuffle-fill", filling(1000).measurements()) == "note");
}

TEST_CASE("shuffle-refilled: what it advises has an end") {
  CHECK(says(kRule, filling(3000), "without a number it never ends"));
  CHECK(says(kRule, filling(3000), ".repeat(epochs)"));
}

TEST_CASE("shuffle-refilled: thresholds") {
  check_thresholds(kRule, {{"min_share", 0.01, [](double share) { return filling(3000, share); }, at_least}});
}

}  // namespace
}  // namespace doctor::rule_test::shuffle_refilled_test
