#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::filter_drops_most_test {
namespace {

constexpr std::string_view kRule = "filter-drops-most";

TEST_CASE("filter-drops-most: situations") {
  check_situations(kRule, {{"keeps a tenth", filter(1000), "warning"},
                           {"keeps all", filter(100), "silent"},
                           {"keeps a tenth of what the culprit makes", filtered_map(10), "warning"},
                           {"keeps all of what the culprit makes", filtered_map(100), "silent"},
                           {"the culprit comes after it", filtered_map(10).waits_for("BatchV2"), "silent"},
                           {"does not wait", with_level(filter(1000), kHealthy), "silent"},
                           {"nothing seen inside", bare_get_next(), "not evaluated"}});
}

TEST_CASE("filter-drops-most: thresholds") {
  check_thresholds(
      kRule, {{"min_inputs_per_output", 1,
               [](double ratio) { return filter(static_cast<std::uint64_t>(std::llround(ratio * 100))); }, at_least}});
}

TEST_CASE("filter-drops-most: it counts what the filter keeps") {
  CHECK(says(kRule, filtered_map(10), "10 of 100 elements"));
}

}  // namespace
}  // namespace doctor::rule_test::filter_drops_most_test
