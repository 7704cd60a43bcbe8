#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::autotune_limited_test {
namespace {

constexpr std::string_view kRule = "autotune-limited";

/// Such a map where AUTOTUNE chose, and such a part of its time is in ops of its function.
MeasuredPipeline limited_map(std::int64_t parallelism, double utilization = 0.1, double share_in_ops = 1) {
  MeasuredPipeline pipeline = tuned_map("true", parallelism, utilization);
  const PhaseMeasurement& steady = pipeline.pipeline().steady;
  const auto time = static_cast<double>(steady.critical[steady.culprit]);
  return pipeline.runs({{"EagerPyFunc", std::llround(share_in_ops * time)}});
}

/// The same where it is mostly reading a file in such a part, else decoding.
MeasuredPipeline limited_by_ops(std::int64_t parallelism, double share_in_files) {
  MeasuredPipeline pipeline = limited_map(parallelism);
  const Picoseconds time = pipeline.pipeline().steady.python;
  pipeline.pipeline().steady.python = 0;
  const Picoseconds in_files = std::llround(share_in_files * static_cast<double>(time));
  return pipeline.runs({{"ReadFile", in_files}, {"DecodeJpeg", time - in_files}});
}

MeasuredPipeline bursts_of_large_elements(std::int64_t megabytes, double producer_share = 0.5) {
  return bursts("true", producer_share)
      .sets("Root", "ram_budget_megabytes", kRamBudget)
      .sets("Prefetch", "buffered_bytes_MB", megabytes - 100)
      .sets("Map", "buffered_bytes_MB", 100);
}

TEST_CASE("autotune-limited: situations") {
  check_situations(kRule,
                   {{"the pool is used up by calls that wait", limited_map(4), "warning"},
                    {"by calls that compute", limited_map(4, 0.5), "silent"},
                    {"a pool smaller than the cores is, by calls that compute",
                     limited_map(2, 0.5).sets("Root", "threadpool_size", 2), "warning"},
                    {"by ops that compute although cores are idle", limited_by_ops(4, 0.1), "silent"},
                    {"by reading files", limited_by_ops(4, 0.9), "warning"},
                    {"by what is no op of the function", limited_map(4, 0.1, 0.1), "silent"},
                    {"AUTOTUNE stays at 1 for calls that wait", limited_map(1), "warning"},
                    {"AUTOTUNE stays at 1 for calls that compute", limited_map(1, 0.25), "silent"},
                    {"busy cores", limited_map(4, 1), "silent"},
                    {"waits a little", with_level(limited_map(4), kMild), "silent"},
                    {"a fixed value", tuned_map("false", 4), "silent"},
                    {"an interleave at its cycle length", tuned_interleave("true", 2, 2), "warning"},
                    {"an interleave below it", tuned_interleave("true", 2, 8), "silent"},
                    {"fused, AUTOTUNE chose 1",
                     fused_map(1)
                         .sets("MapAndBatch", "autotune", "true")
                         .uses_cores(0, 4)
                         .makes_elements_in(1)
                         .runs({{"EagerPyFunc", kPicosecondsPerSecond}}),
                     "warning"},
                    {"parallelism not in the trace",
                     parallel_map(0.1).sets("ParallelMapV2", "autotune", "true").makes_elements_in(1), "not evaluated"},
                    {"cores unknown", without_budget().sets("ParallelMapV2", "autotune", "true").makes_elements_in(1),
                     "not evaluated"},
                    {"buffers fill the RAM budget", bursts_of_large_elements(kRamBudget), "warning"},
                    {"buffers do not", bursts_of_large_elements(500), "silent"},
                    {"RAM budget unknown", bursts("true"), "not evaluated"},
                    {"nothing seen inside", bare_get_next(), "not evaluated"}});
}

TEST_CASE("autotune-limited: thresholds") {
  check_thresholds(
      kRule,
      {{"max_producer_share", 0.1, [](double share) { return bursts_of_large_elements(kRamBudget, share); }, at_most},
       {"min_producer_share", 0.1, [](double share) { return limited_map(4).makes_elements_in(share); }, at_least},
       {"max_utilization", 0.1, [](double share) { return limited_map(16, share); }, at_most},
       {"max_computing_share", 0.1, [](double share) { return limited_map(2, share * 2 * 0.9 / 4); }, at_most},
       {"min_waiting_share", 0.1, [](double share) { return limited_by_ops(4, share); }, at_least},
       {"min_share_in_ops", 0.1, [](double share) { return limited_map(4, 0.1, share); }, at_least},
       {"min_budget_used", 0.05,
        [](double share) { return bursts_of_large_elements(std::llround(share * kRamBudget)); }, at_least}},
      {"min_memory_used"});  // of `show autotune`: autotune_test.cpp
}

TEST_CASE("autotune-limited: the advice fits the limit") {
  CHECK(says(kRule, limited_map(4), "the thread pool has 4 threads"));
  CHECK(says(kRule, limited_map(4), "private_threadpool_size"));
  CHECK(says(kRule, limited_map(4), "num_parallel_calls=8"));
  CHECK_FALSE(says(kRule, limited_map(4), "your code"));
  CHECK(says(kRule, limited_map(2).sets("Root", "threadpool_size", 2), "fewer than the cores"));
  CHECK(says(kRule, limited_map(2), "it counts CPU time"));
  CHECK_FALSE(says(kRule, limited_map(2), "private_threadpool_size"));
  const MeasuredPipeline small_pool = limited_by_ops(2, 0).sets("Root", "threadpool_size", 2);
  CHECK(says(kRule, small_pool, "leave private_threadpool_size out"));
  CHECK(says(kRule, small_pool, "private_threadpool_size = 4"));
  CHECK_FALSE(says(kRule, small_pool, "more threads than there are cores"));
  MeasuredPipeline sleepers = limited_map(2).sets("Root", "threadpool_size", 2);
  CHECK(says(kRule, sleepers, "more threads than there are cores"));
  sleepers.host().cycles.python_lock = PythonLock::held;
  CHECK(says(kRule, sleepers, "leave private_threadpool_size out"));
  CHECK(says(kRule, tuned_interleave("true", 2, 2), "its cycle length is 2"));
  CHECK(says(kRule, limited_map(4), "Take care"));
  CHECK_FALSE(says(kRule, tuned_interleave("true", 2, 2), "Take care"));
}

}  // namespace
}  // namespace doctor::rule_test::autotune_limited_test
