#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::intra_op_parallelism_test {
namespace {

constexpr std::string_view kRule = "intra-op-parallelism";

MeasuredPipeline splitting_map(double pool_share, double utilization = 1.0) {
  MeasuredPipeline pipeline = parallel_map(utilization);
  PhaseMeasurement& steady = pipeline.pipeline().steady;
  steady.pool_threads = pool_share * steady.busy_threads;
  return pipeline;
}

MeasuredPipeline splitting_map_below(const std::string& option) {
  MeasuredPipeline pipeline = MeasuredPipeline({"Model", option, "Prefetch", "ParallelMapV2", "Range"});
  pipeline.waits_for("ParallelMapV2").uses_cores(4, 4).pipeline().steady.pool_threads = 2;
  return pipeline;
}

TEST_CASE("intra-op-parallelism: situations") {
  check_situations(kRule, {{"ops split their work on full cores", splitting_map(0.4), "warning"},
                           {"on idle cores", splitting_map(0.4, 0.5), "silent"},
                           {"they may, but hardly do", splitting_map(0.05), "silent"},
                           {"the root says 1", splitting_map(0.4).sets("Root", "intra_op_parallelism", 1), "silent"},
                           {"the root says 2", splitting_map(0.4).sets("Root", "intra_op_parallelism", 2), "warning"},
                           {"an iterator of the option", splitting_map_below("MaxIntraOpParallelism"), "silent"},
                           {"an iterator of another option", splitting_map_below("PrivateThreadPool"), "warning"},
                           {"no compute pool in the trace", splitting_map(0), "not evaluated"},
                           {"a sequential map", sequential_map().uses_cores(4, 4), "silent"},
                           {"cores unknown", without_budget(), "not evaluated"}});
}

TEST_CASE("intra-op-parallelism: thresholds") {
  check_thresholds(kRule, {{"min_utilization", 0.1, [](double share) { return splitting_map(0.5, share); }, at_least},
                           {"min_pool_share", 0.1, [](double share) { return splitting_map(share); }, at_least}});
}

}  // namespace
}  // namespace doctor::rule_test::intra_op_parallelism_test
