#include <algorithm>

#include "diagnose/judgement_passes.h"
#include "diagnose/tuning.h"

namespace doctor {
namespace {

/// Of a buffer: with fewer, one element more or less decides.
constexpr std::uint64_t kLeastTaken = 10;

/// The nearest prefetch below the consumer, over what only passes elements on; kNoIterator: there is none.
IteratorId last_prefetch(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  IteratorId id = pipeline.root;
  for (std::size_t depth = 0; id != kNoIterator && depth < host.iterators.size(); ++depth) {
    const IteratorMeasurement& iterator = host.iterators[id];
    if (kind_of(iterator) == "Prefetch") return id;
    const bool passes_on = has_trait(iterator, Trait::frame) || has_trait(iterator, Trait::passes_on);
    if (!passes_on || iterator.children.size() != 1) return kNoIterator;
    id = iterator.children.front();
  }
  return kNoIterator;
}

}  // namespace

void doubt_stored_elements(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                           const ThresholdValues& thresholds, PipelineJudgement& judgement) {
  const bool keeps_up = judgement.level == InputLevel::not_bound || judgement.level == InputLevel::mild;
  const IteratorId id = keeps_up && !pipeline.feeds_another ? last_prefetch(host, pipeline) : kNoIterator;
  if (id == kNoIterator) return;
  const IteratorMeasurement& prefetch = host.iterators[id];
  StoredElements stored;
  stored.taken = prefetch.calls;
  for (const IteratorId child : prefetch.children) stored.made += host.iterators[child].calls;
  const double left = static_cast<double>(stored.taken) * (1 - thresholds["max_stored_share"]);
  if (stored.taken < kLeastTaken || static_cast<double>(stored.made) >= left) return;
  const std::int64_t limit = std::max<std::int64_t>(0, last_number(prefetch, "buffer_limit").value_or(0));
  stored.steps_to_record = 2 * std::max(stored.taken, static_cast<std::uint64_t>(limit));
  judgement.level = InputLevel::unknown;
  judgement.doubt = stored;
}

}  // namespace doctor
