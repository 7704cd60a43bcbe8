#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::slow_source_test {
namespace {

constexpr std::string_view kRule = "slow-source";

TEST_CASE("slow-source: situations") {
  check_situations(kRule, {{"reads files", interleaved("ParallelInterleaveV4"), "warning"},
                           {"waits a little", with_level(interleaved("ParallelInterleaveV4"), kMild), "silent"},
                           {"a transformation is slow", sequential_map(), "silent"},
                           {"nothing seen inside", bare_get_next(), "not evaluated"}});
}

TEST_CASE("slow-source: thresholds") {
  check_thresholds(kRule, {});
}

TEST_CASE("slow-source: the advice fits the source") {
  CHECK(says(kRule, interleaved("ParallelInterleaveV4"), "Read more files at once, with a higher cycle_length"));
  CHECK(says(kRule, interleaved("Interleave"), "from_tensor_slices(filenames).interleave"));
  CHECK(says(kRule, MeasuredPipeline({"Root", "Prefetch", "TextLine"}).waits_for("TextLine"),
             "tf.data.TextLineDataset,"));
  CHECK(says(kRule, csv_dataset().waits_for("CSV"), "num_parallel_reads"));
}

TEST_CASE("slow-source: a model can predict what reading several files at once brings") {
  const std::vector<FixKind> parallel = {FixKind::parallel_interleave};
  CHECK(fix_kinds_of(kRule, interleaved("Interleave")) == parallel);
  CHECK(fix_kinds_of(kRule, interleaved("ParallelInterleaveV4").sets("ParallelInterleaveV4", "cycle_length", 2)) ==
        parallel);
  CHECK(fix_kinds_of(kRule, MeasuredPipeline({"Root", "Prefetch", "FlatMap", "TextLine"}).waits_for("TextLine")) ==
        parallel);
  CHECK(fix_kinds_of(kRule, MeasuredPipeline({"Root", "Prefetch", "TextLine"}).waits_for("TextLine")).empty());
}

}  // namespace
}  // namespace doctor::rule_test::slow_source_test
