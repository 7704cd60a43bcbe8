#include <fmt/format.h>

#include <algorithm>

#include "diagnose/element_buffers.h"
#include "diagnose/judgement.h"
#include "diagnose/tuning.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::buffer_will_not_fit {
namespace {

constexpr double kBytesPerMegabyte = 1e6;

/// A buffer of a fixed size, and what it takes.
struct Growth {
  const ElementBuffer* buffer = nullptr;
  double full = 0;  ///< MB when it is full
  double held = 0;  ///< MB of that now

  double to_come() const { return full - held; }
};

/// The fixed buffer that still grows most; AUTOTUNE keeps its own within the budget.
Growth largest_growth(const RankedPipeline& ranked, const std::vector<ElementBuffer>& buffers) {
  Growth largest;
  for (const ElementBuffer& buffer : buffers) {
    if (!buffer.full_bytes || !buffer.bytes || is_autotuned(ranked[buffer.iterator]) == true) continue;
    const Growth growth = {&buffer, static_cast<double>(*buffer.full_bytes) / kBytesPerMegabyte,
                           static_cast<double>(*buffer.bytes) / kBytesPerMegabyte};
    if (growth.to_come() > largest.to_come()) largest = growth;
  }
  return largest;
}

/// `why` is what the report shows beside the code.
Advice advice_for(const IteratorMeasurement& buffer, const std::string& why) {
  if (buffer.has(Trait::shuffle)) {
    return {{"Shuffle before decoding, or with a smaller buffer", "File names and serialized records are small."},
            fmt::format("dataset = dataset.shuffle(buffer_size)  # {}", why)};
  }
  if (buffer.has(Trait::prefetch)) {
    return {{"Let tf.data size the prefetch buffer", "It stays within its memory budget."},
            fmt::format("dataset = dataset.prefetch(tf.data.AUTOTUNE)  # {}", why)};
  }
  return {{"Run fewer calls at once", "Each keeps its result until it is taken."},
          fmt::format("dataset = dataset.map(f, num_parallel_calls=calls)  # {}", why)};
}

Finding finding_for(const RankedPipeline& ranked, const Growth& growth, const AutotuneBudget& memory, double free) {
  const IteratorId id = growth.buffer->iterator;
  Finding finding;
  finding.subject = ranked[id].long_name;
  const std::string full = format_bytes(*growth.buffer->full_bytes);
  const std::string left = format_bytes(static_cast<std::uint64_t>(free * kBytesPerMegabyte));
  finding.message = fmt::format(
      "{} will take {} when it is full ({} of {}, {} now), and the machine has {} left of {}",
      describe(ranked.host, id), full, format_count(*growth.buffer->limit, "element"),
      format_bytes(*growth.buffer->element_bytes), format_bytes(*growth.buffer->bytes), left,
      format_bytes(static_cast<std::uint64_t>(static_cast<double>(*memory.machine_ram_mb) * kBytesPerMegabyte)));
  finding.evidence = {{"when_full", growth.full, "MB"},
                      {"held", growth.held, "MB"},
                      {"free", free, "MB"},
                      share_of("share_of_free", growth.to_come() / free)};
  finding.advice = {advice_for(ranked[id], fmt::format("full, it takes {}; {} are left", full, left))};
  return finding;
}

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  const std::vector<ElementBuffer> buffers = element_buffers(ranked.host, ranked.pipeline.members);
  const Growth growth = largest_growth(ranked, buffers);
  if (!examiner.holds("a buffer of a fixed size is not full, and the trace shows how large its elements are",
                      growth.buffer != nullptr)) {
    return std::nullopt;
  }
  examiner.is_about(growth.buffer->iterator);
  const AutotuneBudget memory = autotune_budget(ranked.host, ranked.pipeline.members, &ranked.pipeline,
                                                ThresholdValues(judgement_thresholds(), {}));
  if (!memory.machine_ram_mb || !memory.machine_used_mb) {
    examiner.misses("the trace does not show the memory of the machine");
    return std::nullopt;
  }
  const double free = std::max(1.0, static_cast<double>(*memory.machine_ram_mb - *memory.machine_used_mb));
  if (!examiner.at_least(share_of("share_of_free", growth.to_come() / free), "min_share_of_free")) return std::nullopt;
  return finding_for(ranked, growth, memory, free);
}

}  // namespace

Rule rule() {
  return {.id = "buffer-will-not-fit",
          .summary = "A buffer of a fixed size will take more memory than the machine has left",
          .follows = {references::kMemoryFootprint, references::kShuffleApi},
          .thresholds = {{"min_share_of_free", 0.90, "share",
                          "minimum size of the elements that still fit into the buffer, as a share of the memory that "
                          "the machine had left; chosen: the job's other memory grows, too"}},
          .check = each_pipeline<check_pipeline>};
}

}  // namespace doctor::rules::buffer_will_not_fit
