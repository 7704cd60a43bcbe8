#include <doctest/doctest.h>

#include <cmath>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::buffer_will_not_fit_test {
namespace {

constexpr std::string_view kRule = "buffer-will-not-fit";

/// A prefetch with 100 elements of 1 MB in it, on a machine with 1,000 MB left, that will take `share` of these.
MeasuredPipeline growing(double share) {
  MeasuredPipeline pipeline({"Root", "Prefetch", "BatchV2", "Map", "TFRecord"});
  pipeline.sets("Root", "ram_usage_megabytes", "1000 out of 2000 (50.00%)");
  pipeline.sets("Root", "ram_budget_megabytes", 500);
  pipeline.sets("Prefetch", "autotune", "false");
  pipeline.sets("Prefetch", "buffer_limit", 100 + std::llround(share * 1000));
  pipeline.sets("Prefetch", "buffered_elements", 100);
  pipeline.sets("Prefetch", "buffered_bytes_MB", 100);
  return pipeline.waits_for("Map");
}

MeasuredPipeline autotuned() {
  MeasuredPipeline pipeline = growing(2);
  for (AttributeValue& attribute : pipeline["Prefetch"].attributes) {
    if (attribute.name == "autotune") attribute.text = "true";
  }
  return pipeline;
}

MeasuredPipeline of_unknown_machine() {
  MeasuredPipeline pipeline = growing(2);
  pipeline["Root"].attributes.clear();
  return pipeline;
}

/// A shuffle with 100 elements of 1 MB in it and room for 3,000, of which this many were taken.
MeasuredPipeline shuffling(std::uint64_t taken) {
  MeasuredPipeline pipeline({"Root", "Shuffle", "Map", "TFRecord"});
  pipeline.sets("Root", "ram_usage_megabytes", "1000 out of 2000 (50.00%)");
  pipeline.sets("Root", "ram_budget_megabytes", 500);
  pipeline.sets("Shuffle", "buffer_size", 3000);
  pipeline.sets("Shuffle", "buffered_elements", 100);
  pipeline.sets("Shuffle", "buffered_bytes_MB", 100);
  pipeline["Shuffle"].calls = taken;
  return pipeline.waits_for("Map");
}

TEST_CASE("buffer-will-not-fit: situations") {
  check_situations(kRule, {{"twice of what is free", growing(2), "warning"},
                           {"a tenth of what is free", growing(0.1), "silent"},
                           {"a shuffle that is being filled", shuffling(1), "warning"},
                           {"a shuffle of all elements that there are", shuffling(20), "silent"},
                           {"sized by AUTOTUNE", autotuned(), "silent"},
                           {"memory of the machine not seen", of_unknown_machine(), "not evaluated"},
                           {"no size of elements", sequential_map(), "silent"},
                           {"no call seen", without_calls(), "not evaluated"}});
}

TEST_CASE("buffer-will-not-fit: says what it will take and what is left") {
  CHECK(says(kRule, growing(2), "will take 2.10 GB when it is full"));
  CHECK(says(kRule, growing(2), "1.00 GB left of 2.00 GB"));
}

TEST_CASE("buffer-will-not-fit: thresholds") {
  check_thresholds(kRule, {{"min_share_of_free", 0.1, growing, at_least}});
}

}  // namespace
}  // namespace doctor::rule_test::buffer_will_not_fit_test
