#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::slow_transformation_test {
namespace {

constexpr std::string_view kRule = "slow-transformation";

TEST_CASE("slow-transformation: situations") {
  check_situations(kRule, {{"a map", sequential_map(), "warning"},
                           {"waits a little", with_level(sequential_map(), kMild), "silent"},
                           {"a source is slow", python_generator(), "silent"},
                           {"no tf.data", without_tf_data(), "not evaluated"}});
}

TEST_CASE("slow-transformation: thresholds") {
  check_thresholds(kRule, {});
}

TEST_CASE("slow-transformation: a cache is advised where it can be completed and read again") {
  const auto with_chain = [](const std::vector<std::string>& chain) {
    return MeasuredPipeline(chain).waits_for("Map");
  };
  const MeasuredPipeline plain = with_chain({"Root", "Prefetch", "BatchV2", "Map", "TFRecord"});
  CHECK(says(kRule, plain, "dataset = dataset.cache()  # after Dataset.map"));

  const MeasuredPipeline endless = with_chain({"Root", "Prefetch", "BatchV2", "Map", "ForeverRepeat", "TFRecord"});
  CHECK(says(kRule, endless, "would never be complete"));
  CHECK(says(kRule, endless, ".cache().repeat()"));
  // Each name is one element: its order is that of the names.
  const MeasuredPipeline names = with_chain({"Root", "Prefetch", "BatchV2", "Map", "Shuffle", "TensorSlice"});
  CHECK(says(kRule, MeasuredPipeline(names).runs({{"ReadFile", 600}, {"DecodeJpeg", 400}}),
             "dataset = dataset.map(load).cache().shuffle(n)"));
  // What is taken of it ends, and so does a zip of it and a shorter input.
  for (const char* const end : {"FiniteTake", "Zip"}) {
    CAPTURE(end);
    const MeasuredPipeline ended = with_chain({"Root", "Prefetch", "BatchV2", "Map", end, "ForeverRepeat", "TFRecord"});
    CHECK(says(kRule, ended, "dataset = dataset.cache()  # after Dataset.map"));
  }
  // uncached-repeat says it
  CHECK_FALSE(says(kRule, epochs(2), "cache"));

  CHECK_FALSE(says(kRule, with_chain({"Root", "Prefetch", "MemoryCacheImpl", "Map", "TFRecord"}), ".cache()"));
  // What only puts elements together is not worth keeping.
  CHECK_FALSE(says(kRule, MeasuredPipeline(plain).waits_for("BatchV2"), "cache"));
  CHECK(says(kRule,
             MeasuredPipeline(plain).sets("BatchV2", "buffered_bytes_MB", 12).sets("BatchV2", "buffered_elements", 8),
             "about 1.5 MB an element"));
}

TEST_CASE("slow-transformation: a cache of what a helper makes stands after the helper") {
  MeasuredPipeline helper = MeasuredPipeline({"Root", "Prefetch", "BatchV2", "Map", "TensorSlice"}).waits_for("Map");
  helper["Map"].dataset_name = "at_train_py_L9_timeseries_dataset_from_array";
  helper["BatchV2"].dataset_name = "at_train_py_L9_timeseries_dataset_from_array_2";
  CHECK(says(kRule, helper, "# after timeseries_dataset_from_array"));
  MeasuredPipeline other_call = helper;
  other_call["BatchV2"].dataset_name = "at_train_py_L20_timeseries_dataset_from_array";
  CHECK(says(kRule, other_call, "# after timeseries_dataset_from_array"));
  MeasuredPipeline random = helper;
  random["BatchV2"].random_ops = {"RandomUniform"};
  CHECK(says(kRule, random, "# after the map inside of timeseries_dataset_from_array"));
}

TEST_CASE("slow-transformation: a cache is advised before what is random, never after it") {
  const MeasuredPipeline random = sequential_map().runs({{"RandomUniform", 1'000'000'000}});
  CHECK(says(kRule, random, "dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()\n"));
  CHECK(says(kRule, random, ".map(randomize, "));
  CHECK_FALSE(says(kRule, random, "dataset.cache()"));
  // Little of such a function would be left for a cache.
  MeasuredPipeline only_random = random;
  only_random["Map"].function_ops = {{"ImageProjectiveTransformV3", 600}, {"ReverseV2", 400}};
  CHECK_FALSE(says(kRule, only_random, "dataset.map(load"));
  CHECK(says(kRule, only_random, "Cache what comes before it"));
  only_random["Map"].function_ops = {{"DecodeJpeg", 600}, {"ImageProjectiveTransformV3", 400}};
  CHECK(says(kRule, only_random, "dataset.map(load"));
  MeasuredPipeline decoded =
      MeasuredPipeline({"Root", "Prefetch", "BatchV2", "ParallelMapV2", "ShuffleV3", "Map", "TFRecord"})
          .waits_for("ParallelMapV2")
          .runs({{"RandomUniform", 1'000'000'000}});
  CHECK(says(kRule, decoded, "dataset = dataset.cache()  # after your 1st map, before what is random"));
  decoded["ParallelMapV2"].function = 3'000;
  decoded["Map"].self = 3'000;
  CHECK(says(kRule, decoded, "dataset = dataset.cache()  # after your 1st map"));
  decoded["Map"].self = 1'000;  // it only reads: the culprit decodes
  decoded["ParallelMapV2"].function_ops = {{"DecodeJpeg", 600}, {"RandomUniform", 400}};
  CHECK_FALSE(says(kRule, decoded, "dataset = dataset.cache()"));
  CHECK(says(kRule, decoded, "dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache().shuffle(n)\n"));
  MeasuredPipeline augmented =
      MeasuredPipeline({"Root", "Prefetch", "BatchV2", "Map", "ParallelMapV2", "TFRecord"}).waits_for("Map");
  augmented["ParallelMapV2"].random_ops = {"AdjustHue"};
  CHECK_FALSE(says(kRule, augmented, "dataset.cache()"));
  CHECK(says(kRule, augmented, "uses AdjustHue"));
}

TEST_CASE("slow-transformation: windows are gathered, before anything else") {
  const MeasuredPipeline windows =
      MeasuredPipeline({"Root", "Prefetch", "BatchV2", "FlatMap", "Window", "TensorSlice"}).waits_for("FlatMap");
  const Outcome outcome = ask(kRule, windows.measurements());
  REQUIRE(outcome.findings.size() == 1);
  CHECK(outcome.findings.front().is_easy);
  CHECK(outcome.findings.front().advice.front().text.action.starts_with("Gather the windows"));
  CHECK_FALSE(fix_kinds_of(kRule, windows) == std::vector{FixKind::parallel_interleave});
}

}  // namespace
}  // namespace doctor::rule_test::slow_transformation_test
