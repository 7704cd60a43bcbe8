#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::damaged_trace_test {
namespace {

constexpr std::string_view kRule = "damaged-trace";

TEST_CASE("damaged-trace: situations") {
  check_situations(kRule, {{"damaged", damaged(sequential_map()), "warning"},
                           {"damaged, no tf.data", damaged(without_tf_data()), "warning"},
                           {"complete", sequential_map(), "silent"}});
}

TEST_CASE("damaged-trace: what the profiler left out is told in plain words, with the cure") {
  const auto with = [](const std::vector<std::string>& reasons) {
    MeasuredPipeline pipeline = sequential_map();
    for (const std::string& reason : reasons) pipeline.host().loss.add(reason);
    return pipeline;
  };
  CHECK(says(kRule, with({"document_cut_by_profiler"}), "The profiler wrote only the first"));
  CHECK(says(kRule, with({"document_cut_by_profiler"}), "; the .xplane.pb beside it is whole"));
  CHECK(says(kRule, with({"files_empty"}), "would have more than 2 GB"));
  CHECK(says(kRule, with({"files_empty"}), "python_tracer_level=0"));
  CHECK_FALSE(says(kRule, with({"document_cut_by_profiler", "files_empty"}), "is whole"));
  CHECK_FALSE(says(kRule, with({"files_empty"}), "is damaged"));
  CHECK(says(kRule, with({"files_empty", "events_malformed"}), "The trace is damaged (events malformed: 1)"));
}

TEST_CASE("damaged-trace: thresholds") {
  check_thresholds(kRule, {});
}

TEST_CASE("damaged-trace: an empty list of hosts is not evaluated") {
  CHECK(answer(kRule, Measurements()) == "not evaluated");
}

}  // namespace
}  // namespace doctor::rule_test::damaged_trace_test
