#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::buffers_near_ram_budget_test {
namespace {

constexpr std::string_view kRule = "buffers-near-ram-budget";

/// A job that does not wait, with these megabytes in its shuffle of serialized records and in its prefetch.
MeasuredPipeline buffering(std::int64_t shuffled, std::int64_t prefetched) {
  return MeasuredPipeline({"Root", "Prefetch", "BatchV2", "ParallelMapV2", "ShuffleV3", "TFRecord"})
      .waits_for("BatchV2", 0.9, kHealthy)
      .sets("Root", "ram_budget_megabytes", kRamBudget)
      .sets("Prefetch", "autotune", "true")
      .sets("ShuffleV3", "buffered_bytes_MB", shuffled)
      .sets("Prefetch", "buffered_bytes_MB", prefetched);
}

/// A shuffle after the map, alone with its megabytes.
MeasuredPipeline shuffling_enlarged(double share_of_budget) {
  return MeasuredPipeline({"Root", "Prefetch", "ShuffleV3", "Map", "MemoryCacheImpl", "TFRecord"})
      .sets("Root", "ram_budget_megabytes", kRamBudget)
      .sets("ShuffleV3", "buffered_bytes_MB", std::llround(share_of_budget * kRamBudget))
      .sets("MemoryCacheImpl", "buffered_bytes_MB", kRamBudget);
}

MeasuredPipeline without_ram_budget() {
  MeasuredPipeline pipeline = buffering(kRamBudget, 0);
  pipeline["Root"].attributes.clear();
  return pipeline;
}

TEST_CASE("buffers-near-ram-budget: situations") {
  check_situations(kRule,
                   {{"beyond the budget", buffering(kRamBudget, kRamBudget / 10), "warning"},
                    {"close to it, together", buffering(kRamBudget / 2, kRamBudget * 45 / 100), "note"},
                    {"far from it", buffering(kRamBudget / 10, kRamBudget / 10), "silent"},
                    {"one buffer of enlarged elements", shuffling_enlarged(0.9), "silent"},
                    {"budget unknown", without_ram_budget(), "not evaluated"},
                    {"no buffer", MeasuredPipeline({"Root", "Map", "TFRecord"}), "silent"},
                    {"empty buffers", sequential_map().sets("Root", "ram_budget_megabytes", kRamBudget), "silent"},
                    {"nothing about memory", sequential_map(), "not evaluated"},
                    {"no call seen", without_calls(), "not evaluated"}});
}

TEST_CASE("buffers-near-ram-budget: the largest buffer is the one to change") {
  CHECK(says(kRule, buffering(kRamBudget, 10), "Shuffle with a smaller buffer"));
  CHECK(says(kRule, buffering(10, kRamBudget), "Give tf.data more memory if a buffer runs empty"));
  MeasuredPipeline fixed = buffering(10, kRamBudget);
  fixed["Prefetch"].attributes.front().text = "false";
  CHECK(
      says(kRule, fixed, "Let tf.data size the prefetch buffer", {{std::string(kRule), {{"max_enlarged_share", 1}}}}));
}

TEST_CASE("buffers-near-ram-budget: thresholds") {
  check_thresholds(
      kRule, {{"min_budget_share", 0.05, [](double share) { return buffering(std::llround(share * kRamBudget), 0); },
               at_least, "note"},
              {"max_enlarged_share", 0.3, [](double share) { return shuffling_enlarged(share); }, at_most}});
}

}  // namespace
}  // namespace doctor::rule_test::buffers_near_ram_budget_test
