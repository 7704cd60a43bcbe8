#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::autotune_off_test {
namespace {

constexpr std::string_view kRule = "autotune-off";

TEST_CASE("autotune-off: situations") {
  check_situations(
      kRule,
      {{"parallelism 2 of 4, idle cores", tuned_map("false", 2), "warning"},
       {"the same, waits a little", with_level(tuned_map("false", 2), kMild), "note"},
       {"the same, does not wait", with_level(tuned_map("false", 2), kHealthy), "silent"},
       {"parallelism 2 of 4, busy cores", tuned_map("false", 2, 1), "silent"},
       {"parallelism 4 of 4", tuned_map("false", 4), "silent"},
       {"parallelism 4, a pool of 8", tuned_map("false", 4).sets("Root", "threadpool_size", 8), "warning"},
       {"AUTOTUNE chose 2", tuned_map("true", 2), "silent"},
       {"parallelism not in the trace",
        parallel_map(0.1).sets("ParallelMapV2", "autotune", "false").makes_elements_in(1), "not evaluated"},
       {"cores unknown", without_budget().sets("ParallelMapV2", "autotune", "false").makes_elements_in(1),
        "not evaluated"},
       {"a sequential map", sequential_map().uses_cores(0.1, 4).makes_elements_in(1), "silent"},
       {"an interleave of 2 in a cycle of 8", tuned_interleave("false", 2, 8), "warning"},
       {"an interleave of 8 in a cycle of 8", tuned_interleave("false", 8, 8), "silent"},
       {"a fixed buffer runs empty, and full", bursts("false"), "warning"},
       {"a buffer of AUTOTUNE does", bursts("true"), "silent"},
       {"nobody knows whose buffer does", sequential_map().makes_elements_in(0.5), "silent"},
       {"a fixed buffer that is never full", bursts("false", 1), "silent"},
       {"a fixed buffer bridges what it can, parallelism 2", tuned_map("false", 2).makes_elements_in(0.5), "silent"},
       {"nothing seen inside", bare_get_next(), "not evaluated"}});
}

TEST_CASE("autotune-off: a model can predict what a buffer that grows brings") {
  CHECK(fix_kinds_of(kRule, bursts("false")) == std::vector<FixKind>{FixKind::buffer});
}

TEST_CASE("autotune-off: thresholds") {
  check_thresholds(kRule,
                   {{"max_producer_share", 0.1, [](double share) { return bursts("false", share); }, at_most},
                    {"max_utilization", 0.1, [](double share) { return tuned_map("false", 2, share); }, at_most}},
                   {"min_most_calls", "min_often_calls"});  // of `show autotune`: autotune_test.cpp
}

}  // namespace
}  // namespace doctor::rule_test::autotune_off_test
