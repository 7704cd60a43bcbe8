#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "diagnose/element_buffers.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "measure/memory_growth.h"
#include "text/numbers.h"

namespace doctor::rules::memory_grows {
namespace {

Finding leak(const std::string& words) {
  Finding finding;
  finding.message = fmt::format("the memory of the process grows by {}; no buffer of tf.data explains it", words);
  finding.advice = {
      {{"Find what keeps tensors of earlier steps",
        fmt::format(
            "The memory of the process grows by {}: look for a list of batches or of losses (keep float(loss)), "
            "an iterator or a dataset that is made anew in each step, a function that is traced again.",
            words)},
       std::nullopt}};
  return finding;
}

Finding filling_cache(const HostMeasurement& host, IteratorId cache, const std::string& words) {
  Finding finding;
  finding.severity = Severity::note;
  finding.subject = host.iterators[cache].long_name;
  finding.message = fmt::format("{} grows with each element until its input ends: the process takes {}",
                                describe(host, cache), words);
  finding.advice = {
      {{"Where an epoch does not fit, cache in a file", "Or cache before the step that enlarges the elements."},
       "dataset = dataset.cache(filename)"}};
  return finding;
}

std::optional<Finding> check_host(const HostMeasurement& host, Examiner& examiner) {
  const std::vector<MemorySample>& samples = host.memory.samples;
  if (!examiner.holds("the memory of the process was noted while it was recorded", !samples.empty())) {
    return std::nullopt;
  }
  const std::optional<MemoryGrowth> growth = memory_growth(samples, host.step_markers);
  if (!growth) {
    examiner.misses("there are too few samples of the memory of the process while steps ran and the profiler did not");
    return std::nullopt;
  }
  const std::optional<double> left = steps_left(samples, *growth);
  if (!examiner.holds("the memory of the process rises from each quarter of the steps to the next one",
                      growth->is_steady && left)) {
    return std::nullopt;
  }
  const double share = growth->bytes() / static_cast<double>(std::max<std::uint64_t>(growth->first_bytes, 1));
  if (!examiner.at_least(share_of("growth", share), "min_growth")) return std::nullopt;
  if (!examiner.at_most({"steps_left", *left, "steps"}, "max_steps_left")) return std::nullopt;
  const std::optional<GrowingBuffer> buffer = growing_buffer(host, *growth);
  if (buffer) examiner.is_about(buffer->buffer.iterator);
  if (!examiner.holds("no buffer with a limit, or complete cache, can have taken it",
                      !buffer || buffer->is_filling_cache)) {
    return std::nullopt;
  }
  const std::string words = growth_words(
      {growth->first_step, growth->last_step, growth->bytes_per_step, samples.back().available_bytes, left});
  Finding finding = buffer ? filling_cache(host, buffer->buffer.iterator, words) : leak(words);
  finding.evidence = {
      {"bytes_per_step", growth->bytes_per_step, "B"}, share_of("growth", share), {"steps_left", *left, "steps"}};
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "memory-grows",
          .summary = "The memory of the process grows with each step, and no buffer of a fixed size explains it",
          .follows = {references::kMemoryFootprint},
          .thresholds = {{"min_growth", 0.05, "share",
                          "minimum growth over the sampled steps, as a share of the memory at their begin; measured: "
                          "loops that keep nothing grow by up to 3%"},
                         {"max_steps_left", 1'000'000, "steps",
                          "maximum steps until the memory that is left is used up; chosen: a day at 12 steps/s"}},
          .check = each_host<check_host>};
}

}  // namespace doctor::rules::memory_grows
