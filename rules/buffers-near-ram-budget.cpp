#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "diagnose/element_buffers.h"
#include "diagnose/tuning.h"
#include "diagnose/user_code.h"

namespace doctor::rules::buffers_near_ram_budget {
namespace {

/// The member with the most megabytes in its buffer.
IteratorId largest_buffer(const RankedPipeline& ranked) {
  const auto size = [&](IteratorId id) { return buffered_megabytes(ranked[id]).value_or(-1); };
  const std::vector<IteratorId>& members = ranked.pipeline.members;
  return *std::max_element(members.begin(), members.end(),
                           [&](IteratorId a, IteratorId b) { return size(a) < size(b); });
}

Advice smaller_buffer(const IteratorMeasurement& buffer) {
  if (buffer.has(Trait::shuffle)) {
    return {{"Shuffle with a smaller buffer, or before decoding", "File names and serialized records are small."},
            "dataset = dataset.shuffle(buffer_size)  # fewer elements"};
  }
  if (buffer.has(Trait::cache)) {
    return {{"Cache in a file", "Or cache before the step that enlarges the elements."},
            "dataset = dataset.cache(filename)"};
  }
  if (buffer.has(Trait::prefetch)) {
    return {{"Let tf.data size the prefetch buffer", "It stays within its memory budget."},
            "dataset = dataset.prefetch(tf.data.AUTOTUNE)"};
  }
  return {{"Run fewer calls at once", "Each call in flight keeps its result."},
          "dataset = dataset.map(function, num_parallel_calls=calls)  # fewer calls"};
}

/// AUTOTUNE keeps a buffer of its own within the budget, so there is nothing to change about it.
std::vector<Advice> advice_for(const IteratorMeasurement& largest) {
  const bool is_sized_by_autotune = is_autotuned(largest) == true && !largest.has(Trait::buffer);
  const Advice larger_budget = {is_sized_by_autotune ? AdviceText("Give tf.data more memory if a buffer runs empty",
                                                                  "AUTOTUNE fills the budget that it has.")
                                                     : AdviceText("Give tf.data more memory, if the machine has it"),
                                "options = tf.data.Options()\n"
                                "options.autotune.ram_budget = ram_bytes\n"
                                "dataset = dataset.with_options(options)"};
  return is_sized_by_autotune ? std::vector{larger_budget} : std::vector{smaller_buffer(largest), larger_budget};
}

Finding finding_for(const RankedPipeline& ranked, IteratorId largest, double buffered, double budget) {
  const double of_largest = buffered_megabytes(ranked[largest]).value_or(0);
  Finding finding;
  finding.subject = ranked[largest].long_name;
  finding.severity = buffered > budget ? Severity::warning : Severity::note;
  finding.message = fmt::format(
      "The buffers of the pipeline hold {:.0f} MB, {} the RAM budget of {:.0f} MB: {:.0f} MB of "
      "them are in {}",
      buffered, buffered > budget ? "more than" : "close to", budget, of_largest, describe(ranked.host, largest));
  finding.evidence = {{"buffered", buffered, "MB"},
                      {"ram_budget", budget, "MB"},
                      share_of("budget_share", buffered / budget),
                      {"largest_buffer", of_largest, "MB"}};
  finding.advice = advice_for(ranked[largest]);
  return finding;
}

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  const std::vector<ElementBuffer> buffers = element_buffers(ranked.host, ranked.pipeline.members);
  if (!examiner.holds("an iterator of the pipeline keeps elements", !buffers.empty())) return std::nullopt;
  const std::optional<double> budget = ram_budget_megabytes(ranked.host, buffers.front().iterator);
  if (!budget) {
    examiner.misses("the trace does not show how much memory tf.data may use");
    return std::nullopt;
  }
  // Where the runtime tells the budget, it leaves out bytes of buffers only if they are empty.
  const std::optional<double> buffered = buffered_megabytes(ranked.host, ranked.pipeline.members);
  if (!examiner.holds("elements are seen in a buffer", buffered.has_value())) return std::nullopt;
  const IteratorId largest = largest_buffer(ranked);
  examiner.is_about(largest);
  if (!examiner.at_least(share_of("budget_share", *buffered / *budget), "min_budget_share")) return std::nullopt;
  if (const IteratorId enlarged = largest_enlarged_buffer(ranked); enlarged != kNoIterator) {
    const double alone = buffered_megabytes(ranked[enlarged]).value_or(0) / *budget;
    if (!examiner.at_most(share_of("enlarged_share", alone), "max_enlarged_share")) return std::nullopt;
  }
  return finding_for(ranked, largest, *buffered, *budget);
}

}  // namespace

Rule rule() {
  return {.id = "buffers-near-ram-budget",
          .summary = "The elements in the buffers of a pipeline take nearly all the memory that tf.data may use",
          .follows = {references::kMemoryFootprint, references::kAutotuneOptions},
          .thresholds = {{"min_budget_share", 0.90, "share",
                          "minimum size of the elements in all buffers of a pipeline, as a share of the RAM budget; "
                          "chosen: AUTOTUNE has no room left"},
                         {"max_enlarged_share", 0.50, "share",
                          "maximum share of a single buffer after a step that enlarges elements; above it, "
                          "memory-heavy-order says what to change"}},
          .check = each_pipeline<check_pipeline>};
}

}  // namespace doctor::rules::buffers_near_ram_budget
