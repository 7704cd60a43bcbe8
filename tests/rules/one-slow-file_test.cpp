#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::one_slow_file_test {
namespace {

constexpr std::string_view kRule = "one-slow-file";
constexpr std::string_view kInterleave = "ParallelInterleaveV4";

/// A file of so many elements, each of which takes so long.
InterleavedDataset file(std::uint64_t number, double milliseconds, std::uint64_t elements = 100) {
  const Picoseconds each = std::llround(milliseconds * static_cast<double>(kPicosecondsPerMillisecond));
  return {number, elements, static_cast<Picoseconds>(elements) * each, each};
}

/// Four files are read at once, in order, while the job waits for 190 ms: an element of the third takes so long.
MeasuredPipeline reading(double milliseconds, double of_others = 0.15, std::uint64_t elements = 100) {
  MeasuredPipeline pipeline = interleaved(std::string(kInterleave));
  pipeline.sets(kInterleave, "deterministic", "true");
  pipeline[kInterleave].interleaved = {file(0, of_others, elements), file(1, of_others, elements),
                                       file(2, milliseconds, elements), file(3, of_others, elements)};
  return pipeline;
}

MeasuredPipeline with_order(const std::string& deterministic) {
  MeasuredPipeline pipeline = reading(1.5);
  pipeline[kInterleave].attributes.clear();
  if (!deterministic.empty()) pipeline.sets(kInterleave, "deterministic", deterministic);
  return pipeline;
}

/// The files are opened anew in each of two epochs.
MeasuredPipeline two_epochs() {
  MeasuredPipeline pipeline = reading(1.5);
  for (const std::uint64_t number : {4, 5, 6, 7}) {
    pipeline[kInterleave].interleaved.push_back(file(number, number == 6 ? 1.4 : 0.15));
  }
  return pipeline;
}

MeasuredPipeline two_slow_files() {
  MeasuredPipeline pipeline = reading(1.5);
  pipeline[kInterleave].interleaved[0] = file(0, 1.5);
  return pipeline;
}

MeasuredPipeline two_files() {
  MeasuredPipeline pipeline = reading(1.5);
  pipeline[kInterleave].interleaved.erase(pipeline[kInterleave].interleaved.begin(),
                                          pipeline[kInterleave].interleaved.begin() + 2);
  return pipeline;
}

MeasuredPipeline waiting_little() {
  MeasuredPipeline pipeline = reading(1.5);
  return pipeline.waits_for("TFRecord", 0.9, 0.1);
}

TEST_CASE("one-slow-file: situations") {
  check_situations(kRule, {{"one of four", reading(1.5), "warning"},
                           {"one of four, in each epoch", two_epochs(), "warning"},
                           {"the job hardly waits", waiting_little(), "silent"},
                           {"alike", reading(0.15), "silent"},
                           {"two of four", two_slow_files(), "silent"},
                           {"one of two", two_files(), "silent"},
                           {"slow, but at work for a tenth of the time", reading(0.19, 0.02), "silent"},
                           {"in any order", with_order("false"), "silent"},
                           {"in an order that the trace does not show", with_order(""), "not evaluated"},
                           {"one at a time", interleaved("Interleave"), "silent"}});
}

TEST_CASE("one-slow-file: says which file and how long") {
  CHECK(says(kRule, reading(1.5), "dataset 2 takes 1.50 ms for an element, others usually 150 us, and is at work 79%"));
  CHECK(says(kRule, two_epochs(), "dataset 2 (and 1 later one like it) takes 1.50 ms"));
}

TEST_CASE("one-slow-file: thresholds") {
  check_thresholds(
      kRule, {{"min_ratio", 0.5, [](double ratio) { return reading(ratio, 1); }, at_least},
              {"min_elements", 1, [](double elements) { return reading(100, 1, static_cast<std::uint64_t>(elements)); },
               at_least},
              {"min_busy", 0.1, [](double busy) { return reading(1.9 * busy, 0.01); }, at_least}});
}

}  // namespace
}  // namespace doctor::rule_test::one_slow_file_test
