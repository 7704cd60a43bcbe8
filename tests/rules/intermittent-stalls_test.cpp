#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::intermittent_stalls_test {
namespace {

constexpr std::string_view kRule = "intermittent-stalls";

/// Calls of which some stall; what they cost follows from `share`.
MeasuredPipeline stalling(double count, double share = 0.4, double input_share = 0.8) {
  MeasuredPipeline pipeline = sequential_map();
  pipeline.waits_for("Map", 0.9, input_share);
  Stalls& stalls = pipeline.pipeline().stalls.emplace();
  stalls.count = static_cast<std::size_t>(count);
  stalls.first = 3;
  stalls.last = 8;
  stalls.distance = 5;
  stalls.typical = 20 * kPicosecondsPerMillisecond;
  stalls.usual = kPicosecondsPerMillisecond;
  stalls.share = share;
  stalls.culprit = pipeline.id_of("Map");
  return pipeline;
}

TEST_CASE("intermittent-stalls: situations") {
  check_situations(kRule, {{"stalls", stalling(3), "warning"},
                           {"stalls, does not wait", stalling(3, 0.06, kHealthy), "note"},
                           {"none", sequential_map(), "silent"},
                           {"no call seen", without_calls(), "not evaluated"}});
}

TEST_CASE("intermittent-stalls: a model can predict what one iterator for all epochs brings, unless it shuffles") {
  const auto at_starts_of_epochs = [](MeasuredPipeline pipeline) {
    Stalls& stalls = pipeline.pipeline().stalls.emplace();
    stalls = *stalling(3).pipeline().stalls;
    stalls.epoch_starts = stalls.count;
    stalls.culprit = kNoIterator;
    return pipeline;
  };
  CHECK(fix_kinds_of(kRule, at_starts_of_epochs(stalling(3))) == std::vector<FixKind>{FixKind::iterate_once});
  const MeasuredPipeline shuffled =
      MeasuredPipeline({"Root", "Prefetch", "Map", "Shuffle", "Range"}).waits_for("Map", 0.9, 0.8);
  CHECK(fix_kinds_of(kRule, at_starts_of_epochs(shuffled)).empty());
}

TEST_CASE("intermittent-stalls: thresholds") {
  check_thresholds(kRule, {{"min_stalls", 1, [](double count) { return stalling(count); }, at_least},
                           {"min_share", 0.02, [](double share) { return stalling(3, share); }, at_least}});
}

}  // namespace
}  // namespace doctor::rule_test::intermittent_stalls_test
