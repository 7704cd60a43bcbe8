#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::changing_pace_test {
namespace {

constexpr std::string_view kRule = "changing-pace";

MeasuredPipeline changing(double share_before, double share_after) {
  MeasuredPipeline pipeline = sequential_map();
  PaceChange& change = pipeline.pipeline().pace_change.emplace();
  change.from = 5;
  change.before = (share_before < share_after ? 1 : 20) * kPicosecondsPerMillisecond;
  change.after = (share_before < share_after ? 20 : 1) * kPicosecondsPerMillisecond;
  change.share_before = share_before;
  change.share_after = share_after;
  change.culprit = pipeline.id_of("Map");
  return pipeline;
}

TEST_CASE("changing-pace: situations") {
  check_situations(kRule, {{"slower", changing(0.01, 0.5), "warning"},
                           {"slower, and waits little", changing(0.01, 0.1), "note"},
                           {"faster", changing(0.5, 0.01), "note"},
                           {"even", sequential_map(), "silent"},
                           {"no call seen", without_calls(), "not evaluated"}});
}

TEST_CASE("changing-pace: thresholds") {
  check_thresholds(kRule, {{"min_difference", 0.02, [](double share) { return changing(0.5, 0.5 + share); }, at_least},
                           {"min_share_after", 0.05, [](double share) { return changing(0.01, share); }, at_least,
                            "warning", "note"}});
}

}  // namespace
}  // namespace doctor::rule_test::changing_pace_test
