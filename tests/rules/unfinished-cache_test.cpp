#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::unfinished_cache_test {
namespace {

constexpr std::string_view kRule = "unfinished-cache";

MeasuredPipeline filling(const std::vector<std::string>& chain) {
  MeasuredPipeline pipeline(chain);
  pipeline.waits_for("Map");
  pipeline.pipeline().cache_fills = {{pipeline.id_of("MemoryCacheImpl"), 100, 100}};
  return pipeline;
}

MeasuredPipeline cut_short() {
  return filling({"Root", "ForeverRepeat", "BatchV2", "FiniteTake", "MemoryCacheImpl", "Map", "TFRecord"});
}

TEST_CASE("unfinished-cache: situations") {
  check_situations(kRule,
                   {{"take after the cache", cut_short(), "warning"},
                    {"nobody waits", with_level(cut_short(), kHealthy), "note"},
                    {"take before the cache",
                     filling({"Root", "ForeverRepeat", "MemoryCacheImpl", "FiniteTake", "Map", "TFRecord"}), "silent"},
                    {"take after the repeat",
                     filling({"Root", "FiniteTake", "ForeverRepeat", "MemoryCacheImpl", "Map", "TFRecord"}), "silent"},
                    {"no cache", sequential_map(), "silent"},
                    {"no call seen", without_calls(), "not evaluated"}});
}

TEST_CASE("unfinished-cache: thresholds") {
  check_thresholds(kRule, {});
}

}  // namespace
}  // namespace doctor::rule_test::unfinished_cache_test
