#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::uncached_repeat_test {
namespace {

constexpr std::string_view kRule = "uncached-repeat";

TEST_CASE("uncached-repeat: situations") {
  check_situations(
      kRule,
      {{"two epochs", epochs(2), "warning"},
       {"one epoch", epochs(1), "note"},
       {"one epoch, random", epochs(1).runs({{"RandomUniform", 1'000'000}}), "silent"},
       {"an endless repeat before the slow map",
        repeated({"Root", "Prefetch", "FiniteRepeat", "BatchV2", "Map", "ForeverRepeat", "TFRecord"}, 2), "silent"},
       {"a batch is slow", epochs(2).waits_for("BatchV2"), "silent"},
       {"a cache between",
        repeated({"Root", "Prefetch", "ForeverRepeat", "BatchV2", "MemoryCacheImpl", "Map", "TFRecord"}, 2), "silent"},
       {"a cache before the slow map",
        repeated({"Root", "Prefetch", "ForeverRepeat", "BatchV2", "Map", "MemoryCache", "TFRecord"}, 2), "warning"},
       {"no repeat", repeated({"Root", "Prefetch", "BatchV2", "Map", "TFRecord"}, 2), "silent"},
       {"waits a little", with_level(epochs(2), kMild), "silent"},
       {"nothing seen inside", bare_get_next(), "not evaluated"}});
}

TEST_CASE("uncached-repeat: thresholds") {
  check_thresholds(kRule, {{"min_epochs", 1, [](double count) { return epochs(static_cast<std::uint64_t>(count)); },
                            at_least, "warning", "note"}});
}

TEST_CASE("uncached-repeat: what is random is a caution") {
  CHECK(says(kRule, epochs(2).runs({{"RandomUniform", 1'000'000}}), "its function uses RandomUniform"));
  CHECK_FALSE(says(kRule, epochs(2), "Careful"));
  CHECK(says(kRule, repeated({"Root", "Prefetch", "ForeverRepeat", "BatchV2", "Map", "ShuffleV3", "TFRecord"}, 2),
             "then shuffle"));
}

TEST_CASE("uncached-repeat: the cache goes before the repeat") {
  CHECK(says(kRule, epochs(2), "dataset.cache()  # after Dataset.map, before repeat"));
}

TEST_CASE("uncached-repeat: parents in a circle end in no loop") {
  MeasuredPipeline circle = epochs(2);
  circle["ForeverRepeat"].parent = circle.id_of("TFRecord");
  circle["TFRecord"].children = {circle.id_of("ForeverRepeat")};
  // In a circle the endless repeat stands before the culprit, too.
  CHECK(answer(kRule, circle.measurements()) == "silent");
}

}  // namespace
}  // namespace doctor::rule_test::uncached_repeat_test
