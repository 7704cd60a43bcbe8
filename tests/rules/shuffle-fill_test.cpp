#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::shuffle_fill_test {
namespace {

constexpr std::string_view kRule = "shuffle-fill";

MeasuredPipeline filling_shuffle(double microseconds = 5000) {
  MeasuredPipeline pipeline({"Root", "Prefetch", "BatchV2", "ShuffleV3", "TFRecord"});
  pipeline.waits_for("TFRecord", 0.9, kHealthy);
  pipeline.pipeline().shuffle_fill =
      ShuffleFill{pipeline.id_of("ShuffleV3"), 10'000, std::llround(microseconds * 1e6), 10'000};
  return pipeline;
}

TEST_CASE("shuffle-fill: situations") {
  check_situations(kRule, {{"fills", filling_shuffle(), "note"},
                           {"full", sequential_map(), "silent"},
                           {"fills in no time", filling_shuffle(200), "silent"},
                           {"fills, for a time that the window cuts off", filling_shuffle(0), "note"},
                           {"no call seen", without_calls(), "not evaluated"}});
}

TEST_CASE("shuffle-fill: thresholds") {
  check_thresholds(kRule, {{"min_duration", 100, [](double time) { return filling_shuffle(time); }, at_least, "note"}});
}

}  // namespace
}  // namespace doctor::rule_test::shuffle_fill_test
