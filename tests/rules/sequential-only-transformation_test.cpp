#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::sequential_only_transformation_test {
namespace {

constexpr std::string_view kRule = "sequential-only-transformation";

TEST_CASE("sequential-only-transformation: situations") {
  check_situations(
      kRule, {{"a filter", filter(100), "warning"},
              {"a batch", MeasuredPipeline({"Root", "Prefetch", "BatchV2", "Range"}).waits_for("BatchV2"), "warning"},
              {"a parallel batch",
               MeasuredPipeline({"Root", "Prefetch", "ParallelBatch", "Range"}).waits_for("ParallelBatch"), "silent"},
              {"a map", sequential_map(), "silent"},
              {"nothing seen inside", bare_get_next(), "not evaluated"}});
}

TEST_CASE("sequential-only-transformation: thresholds") {
  check_thresholds(kRule, {});
}

TEST_CASE("sequential-only-transformation: the advice fits where the data comes from") {
  CHECK(says(kRule, filter(100), "return dataset.filter(predicate)"));
  CHECK(says(kRule, filter(100), "source().shard(NUM_SHARDS"));
  CHECK(says(kRule, MeasuredPipeline({"Root", "Prefetch", "Filter", "TFRecord"}).waits_for("Filter"), "list_files("));
  CHECK(says(kRule, csv_dataset().waits_for("BatchV2"), "num_parallel_reads"));
  CHECK_FALSE(says(kRule, csv_dataset().waits_for("BatchV2"), ".batch("));
}

TEST_CASE("sequential-only-transformation: of shuffled rows of an array the indices are batched") {
  const auto batched = [](const std::vector<std::string>& below) {
    std::vector<std::string> chain = {"Root", "Prefetch", "BatchV2"};
    chain.insert(chain.end(), below.begin(), below.end());
    return MeasuredPipeline(chain).waits_for("BatchV2");
  };
  for (const MeasuredPipeline& rows :
       {batched({"ShuffleAndRepeat", "TensorSlice"}), batched({"ForeverRepeat", "ShuffleV3", "TensorSlice"})}) {
    CHECK(says(kRule, rows, "tf.gather(x, rows)"));
    CHECK_FALSE(says(kRule, rows, ".batch(batch_size, num_parallel_calls"));
    CHECK(ask(kRule, rows.measurements()).findings.front().is_easy);
  }
  for (const MeasuredPipeline& others :
       {batched({"TensorSlice"}), batched({"ShuffleV3", "Map", "TensorSlice"}), batched({"ShuffleV3", "TFRecord"})}) {
    CHECK_FALSE(says(kRule, others, "tf.gather"));
  }
}

}  // namespace
}  // namespace doctor::rule_test::sequential_only_transformation_test
