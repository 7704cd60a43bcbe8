#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::memory_heavy_order_test {
namespace {

constexpr std::string_view kRule = "memory-heavy-order";

/// A shuffle of decoded elements, `megabytes` of them in its buffer, in a job that does not wait.
MeasuredPipeline shuffled(std::int64_t megabytes, const std::vector<std::string>& chain) {
  return MeasuredPipeline(chain)
      .waits_for("BatchV2", 0.9, kHealthy)
      .sets("Root", "ram_budget_megabytes", kRamBudget)
      .sets("ShuffleV3", "buffered_bytes_MB", megabytes);
}

const std::vector<std::string> kDecodeThenShuffle = {"Root",      "Prefetch",      "BatchV2",
                                                     "ShuffleV3", "ParallelMapV2", "TFRecord"};

MeasuredPipeline shuffle_of_unknown_size(std::int64_t elements) {
  return MeasuredPipeline(kDecodeThenShuffle).sets("ShuffleV3", "buffer_size", elements);
}

TEST_CASE("memory-heavy-order: situations") {
  check_situations(kRule,
                   {{"decoded elements fill the budget", shuffled(900, kDecodeThenShuffle), "warning"},
                    {"they do not", shuffled(10, kDecodeThenShuffle), "silent"},
                    {"shuffled before they are decoded",
                     shuffled(900, {"Root", "Prefetch", "BatchV2", "Map", "ShuffleV3", "TFRecord"}), "silent"},
                    {"shuffled behind a flat_map",
                     shuffled(900, {"Root", "Prefetch", "BatchV2", "ShuffleV3", "FlatMap", "TFRecord"}), "silent"},
                    {"a cache",
                     MeasuredPipeline({"Root", "MemoryCacheImpl", "Map", "Range"})
                         .sets("Root", "ram_budget_megabytes", kRamBudget)
                         .sets("MemoryCacheImpl", "buffered_bytes_MB", 900),
                     "warning"},
                    {"a fixed prefetch",
                     sequential_map()
                         .sets("Root", "ram_budget_megabytes", kRamBudget)
                         .sets("Prefetch", "autotune", "false")
                         .sets("Prefetch", "buffered_bytes_MB", 900),
                     "warning"},
                    {"a prefetch of AUTOTUNE",
                     sequential_map()
                         .sets("Root", "ram_budget_megabytes", kRamBudget)
                         .sets("Prefetch", "autotune", "true")
                         .sets("Prefetch", "buffered_bytes_MB", 900),
                     "silent"},
                    {"budget unknown", MeasuredPipeline(kDecodeThenShuffle).sets("ShuffleV3", "buffered_bytes_MB", 900),
                     "not evaluated"},
                    {"many elements of unknown size", shuffle_of_unknown_size(100'000), "note"},
                    {"a few of unknown size", shuffle_of_unknown_size(100), "silent"},
                    {"no call seen", without_calls(), "not evaluated"}});
}

TEST_CASE("memory-heavy-order: thresholds") {
  check_thresholds(
      kRule, {{"min_budget_share", 0.1,
               [](double share) { return shuffled(std::llround(share * kRamBudget), kDecodeThenShuffle); }, at_least},
              {"min_elements_of_unknown_size", 1000,
               [](double count) { return shuffle_of_unknown_size(std::llround(count)); }, at_least, "note"}});
}

}  // namespace
}  // namespace doctor::rule_test::memory_heavy_order_test
