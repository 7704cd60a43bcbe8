#include <doctest/doctest.h>

#include <cmath>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::low_parallelism_test {
namespace {

constexpr std::string_view kRule = "low-parallelism";

TEST_CASE("low-parallelism: situations") {
  check_situations(kRule, {{"idle cores", parallel_map(0.1), "warning"},
                           {"busy cores", parallel_map(1.0), "silent"},
                           {"a sequential map", sequential_map().uses_cores(0.1, 4), "silent"},
                           {"fused, parallelism 1", fused_map(1).uses_cores(0.1, 4), "silent"},
                           {"fused, parallelism 2", fused_map(2).uses_cores(0.1, 4), "warning"},
                           {"cores unknown", without_budget(), "not evaluated"},
                           {"cores unknown, and not even one is busy", without_budget(0.1), "warning"},
                           {"a parallel batch copies unseen",
                            MeasuredPipeline({"Root", "Prefetch", "ParallelBatch", "ParallelMapV2", "TFRecord"})
                                .waits_for("ParallelMapV2")
                                .uses_cores(0.4, 4),
                            "not evaluated"}});
}

TEST_CASE("low-parallelism: thresholds") {
  const auto with_ops = [](double share) {
    MeasuredPipeline pipeline = parallel_map(0.1);
    const auto held = static_cast<double>(pipeline.pipeline().steady.critical[pipeline.id_of("ParallelMapV2")]);
    return pipeline.runs({{"RegexReplace", std::llround(share * held)}});
  };
  check_thresholds(kRule,
                   {{"max_utilization", 0.1, parallel_map, at_most}, {"min_share_in_ops", 0.4, with_ops, at_least}});
}

TEST_CASE("low-parallelism: Python in the function is a caution") {
  CHECK(says(kRule, parallel_map(0.1).runs({{"EagerPyFunc", 1'000'000'000'000}}), "Take care"));
  CHECK_FALSE(says(kRule, parallel_map(0.1), "Take care"));
}

TEST_CASE("low-parallelism: the advice fits who chose the parallelism") {
  CHECK(says(kRule, parallel_map(0.1), "tf.data.AUTOTUNE"));
  CHECK(says(kRule, tuned_map("false", 2), "tf.data.AUTOTUNE"));
  CHECK(says(kRule, tuned_map("false", 4), "private_threadpool_size"));
  CHECK(says(kRule, tuned_map("false", 4), "Run more calls at once, on as many threads"));
  CHECK(says(kRule, tuned_map("true", 2), "private_threadpool_size"));
  CHECK(says(kRule, tuned_map("true", 4), "than AUTOTUNE does"));
  CHECK(says(kRule, tuned_map("true", 4), "private_threadpool_size = 8"));

  // TF runs the map in parallel: the number of calls is not hers.
  MeasuredPipeline parallelised = tuned_map("true", 4);
  parallelised["ParallelMapV2"].dataset_name = "MapDataset:3";
  CHECK(says(kRule, parallelised, "without num_parallel_calls in your code"));
  CHECK_FALSE(says(kRule, tuned_map("true", 4), "in your code"));
}

TEST_CASE("low-parallelism: a pool smaller than the cores goes before anything else") {
  const MeasuredPipeline small_pool = tuned_map("false", 8).sets("Root", "threadpool_size", 1);
  CHECK(says(kRule, small_pool, "leave private_threadpool_size out"));
  CHECK(says(kRule, small_pool, "private_threadpool_size = 4"));
  CHECK_FALSE(says(kRule, small_pool, "num_parallel_calls="));
}

}  // namespace
}  // namespace doctor::rule_test::low_parallelism_test
