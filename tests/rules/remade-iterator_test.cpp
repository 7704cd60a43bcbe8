#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::remade_iterator_test {
namespace {

constexpr std::string_view kRule = "remade-iterator";

/// A pipeline that is made so often, and what part of the time that takes.
MeasuredPipeline remade(double times, double share) {
  MeasuredPipeline pipeline = sequential_map();
  const Picoseconds span = 1'000'000 * kPicosecondsPerMicrosecond;
  const Picoseconds cost = std::llround(share * static_cast<double>(span));
  pipeline.pipeline().remade = RemadeIterator{.times = static_cast<std::size_t>(std::llround(times)),
                                              .making = cost - cost / 2,
                                              .first_calls = cost / 4,
                                              .releasing = cost / 2 - cost / 4,
                                              .span = span,
                                              .between_calls = {}};
  return pipeline;
}

TEST_CASE("remade-iterator: situations") {
  check_situations(kRule, {{"for every step", remade(30, 0.5), "warning"},
                           {"but it costs next to nothing", remade(30, 0.01), "silent"},
                           {"made once", sequential_map(), "silent"},
                           {"no call seen", without_calls(), "not evaluated"}});
}

TEST_CASE("remade-iterator: thresholds") {
  check_thresholds(kRule, {{"min_times", 1, [](double times) { return remade(times, 0.5); }, at_least},
                           {"min_share", 0.02, [](double share) { return remade(30, share); }, at_least}});
}

}  // namespace
}  // namespace doctor::rule_test::remade_iterator_test
