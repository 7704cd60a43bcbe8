#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::cache_fill_test {
namespace {

constexpr std::string_view kRule = "cache-fill";

MeasuredPipeline filling_cache() {
  MeasuredPipeline pipeline({"Root", "Prefetch", "BatchV2", "MemoryCacheImpl", "Map", "TFRecord"});
  pipeline.waits_for("Map");
  pipeline.pipeline().cache_fills = {{pipeline.id_of("MemoryCacheImpl"), 100, 100}};
  return pipeline;
}

TEST_CASE("cache-fill: situations") {
  check_situations(kRule, {{"fills", filling_cache(), "note"},
                           {"no cache", sequential_map(), "silent"},
                           {"no call seen", without_calls(), "not evaluated"}});
}

TEST_CASE("cache-fill: thresholds") {
  check_thresholds(kRule, {});
}

}  // namespace
}  // namespace doctor::rule_test::cache_fill_test
