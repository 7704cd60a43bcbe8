#include <doctest/doctest.h>

#include <cmath>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::memory_grows_test {
namespace {

constexpr std::string_view kRule = "memory-grows";

constexpr std::uint64_t kSteps = 102;
constexpr double kMiddleOfFirstQuarter = 15;

/// A loop of 101 steps after the first, whose process takes 1 GB in the first quarter and `per_step` more with each; of
/// the machine 10 GB are left.
MeasuredPipeline taking(double per_step, double left = 1e10) {
  MeasuredPipeline pipeline = with_level(sequential_map(), kHealthy);
  std::vector<MemorySample>& samples = pipeline.host().memory.samples;
  for (std::uint64_t step = 1; step <= kSteps; ++step) {
    const auto rss = static_cast<std::uint64_t>(1e9 + per_step * (static_cast<double>(step) - kMiddleOfFirstQuarter));
    samples.push_back({static_cast<std::int64_t>(step), step, rss, static_cast<std::uint64_t>(left), 20'000'000'000});
  }
  return pipeline;
}

/// The same with so many megabytes in the prefetch at the end.
MeasuredPipeline prefetching(std::int64_t megabytes) {
  return taking(2e6).sets("Prefetch", "buffered_elements", megabytes).sets("Prefetch", "buffered_bytes_MB", megabytes);
}

MeasuredPipeline caching(bool is_filling) {
  MeasuredPipeline pipeline({"Root", "MemoryCacheImpl", "Map", "TFRecord"});
  pipeline.host().memory = taking(2e6).host().memory;
  pipeline.sets("MemoryCacheImpl", "buffered_elements", 100).sets("MemoryCacheImpl", "buffered_bytes_MB", 200);
  if (is_filling) pipeline.pipeline().cache_fills = {{pipeline.id_of("MemoryCacheImpl"), 100, 100}};
  return with_level(pipeline, kHealthy);
}

MeasuredPipeline sampled_once() {
  MeasuredPipeline pipeline = taking(2e6);
  pipeline.host().memory.samples.resize(3);
  return pipeline;
}

MeasuredPipeline taking_once() {
  MeasuredPipeline pipeline = taking(0);
  for (std::size_t step = 60; step < kSteps; ++step) pipeline.host().memory.samples[step].rss_bytes += 500'000'000;
  return pipeline;
}

TEST_CASE("memory-grows: situations") {
  check_situations(kRule, {{"2 MB a step that nobody holds", taking(2e6), "warning"},
                           {"nothing", taking(0), "silent"},
                           {"taken once", taking_once(), "silent"},
                           {"given back", taking(-2e6), "silent"},
                           {"a prefetch that holds as much", prefetching(200), "silent"},
                           {"a prefetch that holds a little", prefetching(20), "warning"},
                           {"a cache that is being filled", caching(true), "note"},
                           {"a complete cache that holds as much", caching(false), "silent"},
                           {"no samples", sequential_map(), "silent"},
                           {"too few samples", sampled_once(), "not evaluated"}});
}

TEST_CASE("memory-grows: says how fast and until when") {
  CHECK(says(kRule, taking(2e6), "grows by 2.00 MB a step from step 2 to 102"));
  CHECK(says(kRule, taking(2e6), "the 10.0 GB left are used up in 5,000 more"));
  CHECK(says(kRule, caching(true), "Dataset.cache grows with each element until its input ends"));
}

TEST_CASE("memory-grows: thresholds") {
  const auto growing = [](double share) { return taking(share * 1e9 / (kSteps - 2)); };
  const auto lasting = [](double steps) { return taking(1e6, steps * 1e6); };
  check_thresholds(kRule, {{"min_growth", 0.01, growing, at_least}, {"max_steps_left", 1000, lasting, at_most}});
}

}  // namespace
}  // namespace doctor::rule_test::memory_grows_test
