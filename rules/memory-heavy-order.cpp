#include <fmt/format.h>

#include <algorithm>

#include "diagnose/element_buffers.h"
#include "diagnose/tuning.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::memory_heavy_order {
namespace {

Advice advice_for(const IteratorMeasurement& buffer) {
  if (buffer.has(Trait::shuffle)) {
    return {
        {"Shuffle before decoding and batching", "File names and serialized records are small."},
        "dataset = dataset.shuffle(buffer_size).map(decode, num_parallel_calls=tf.data.AUTOTUNE).batch(batch_size)"};
  }
  if (buffer.has(Trait::cache)) {
    return {{"Cache before the step that enlarges the elements", "It helps if the slow work can be separated from it."},
            "dataset = dataset.map(time_consuming).cache().map(memory_consuming)"};
  }
  return {{"Let tf.data size the prefetch buffer", "It stays within its memory budget."},
          "dataset = dataset.prefetch(tf.data.AUTOTUNE)"};
}

Finding finding_for(const RankedPipeline& ranked, IteratorId id, std::string message) {
  Finding finding;
  finding.subject = ranked[id].long_name;
  finding.message = std::move(message);
  finding.advice = {advice_for(ranked[id])};
  return finding;
}

/// The trace shows how many bytes are in the buffer.
std::optional<Finding> check_size(const RankedPipeline& ranked, IteratorId id, double megabytes, Examiner& examiner) {
  const std::optional<double> budget = ram_budget_megabytes(ranked.host, id);
  if (!budget) {
    examiner.misses("the trace does not show how much memory tf.data may use");
    return std::nullopt;
  }
  if (!examiner.at_least(share_of("budget_share", megabytes / *budget), "min_budget_share")) return std::nullopt;
  const std::optional<std::int64_t> elements = ranked[id].number("buffered_elements");
  Finding finding = finding_for(
      ranked, id,
      fmt::format("{} holds {:.0f} MB of the RAM budget of {:.0f} MB, in {}elements that {} has made before it",
                  describe(ranked.host, id), megabytes, *budget, elements ? fmt::format("{} ", *elements) : "",
                  describe(ranked.host, enlarging_before(ranked, id))));
  finding.evidence = {
      {"buffered", megabytes, "MB"}, {"ram_budget", *budget, "MB"}, share_of("budget_share", megabytes / *budget)};
  return finding;
}

/// The trace shows only the number of elements: no more than a note, whatever it is.
std::optional<Finding> check_count(const RankedPipeline& ranked, IteratorId id, Examiner& examiner) {
  const std::int64_t size = std::max<std::int64_t>(ranked[id].number("buffer_size").value_or(0), 0);
  if (!examiner.holds("the buffer with the most elements is a shuffle's", ranked[id].has(Trait::shuffle)))
    return std::nullopt;
  const Evidence elements = number_of("buffer_size", static_cast<std::uint64_t>(size), "elements");
  if (!examiner.at_least(elements, "min_elements_of_unknown_size")) return std::nullopt;
  Finding finding =
      finding_for(ranked, id,
                  fmt::format("{} buffers {} that {} has made before it; the trace does not show how large they are",
                              describe(ranked.host, id), format_count(static_cast<std::uint64_t>(size), "element"),
                              describe(ranked.host, enlarging_before(ranked, id))));
  finding.severity = Severity::note;
  finding.evidence = {elements};
  return finding;
}

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  const IteratorId id = largest_enlarged_buffer(ranked);
  if (!examiner.holds("a shuffle, cache or fixed prefetch comes after a map or batch", id != kNoIterator)) {
    return std::nullopt;
  }
  examiner.is_about(id);
  if (const std::optional<double> megabytes = buffered_megabytes(ranked[id])) {
    return check_size(ranked, id, *megabytes, examiner);
  }
  return check_count(ranked, id, examiner);
}

}  // namespace

Rule rule() {
  return {.id = "memory-heavy-order",
          .summary = "A buffer of large elements takes most of the memory that tf.data may use",
          .follows = {references::kMemoryFootprint, references::kCaching},
          .thresholds =
              {{"min_budget_share", 0.50, "share",
                "minimum size of the elements in the buffer, as a share of the RAM budget; chosen: all other buffers, "
                "and AUTOTUNE, have to get by with the rest"},
               {"min_elements_of_unknown_size", 10000, "elements",
                "minimum size of a shuffle buffer that is worth a note where the trace does not show how large its "
                "elements are (TF 2.12 and before); chosen: 1.5 GB of decoded images of 224 x 224 x 3 bytes"}},
          .check = each_pipeline<check_pipeline>};
}

}  // namespace doctor::rules::memory_heavy_order
