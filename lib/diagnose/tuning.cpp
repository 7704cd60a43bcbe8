#include "diagnose/tuning.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagnose/dataset_words.h"

namespace doctor {
namespace {

std::optional<double> megabytes(const IteratorMeasurement& iterator, std::string_view attribute) {
  const std::optional<std::int64_t> number = iterator.number(attribute);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<double>(*number);
}

/// Mean time from the start of one steady call to the start of the next; 0 with fewer than two.
double mean_cadence(const PipelineMeasurement& pipeline) {
  if (pipeline.calls.size() < pipeline.warmup_count + 2) return 0;
  const Picoseconds span = pipeline.calls.back().start - pipeline.calls[pipeline.warmup_count].start;
  return static_cast<double>(span) / static_cast<double>(pipeline.calls.size() - pipeline.warmup_count - 1);
}

}  // namespace

std::optional<bool> is_autotuned(const IteratorMeasurement& iterator) {
  const std::string_view value = iterator.text("autotune");
  if (value == "true") return true;
  if (value == "false") return false;
  return std::nullopt;
}

IteratorId parallel_stage_of(const RankedPipeline& ranked) {
  if (has_trait(ranked.culprit(), Trait::parallel) && !is_sequential_map(ranked.culprit()))
    return ranked.judgement.culprit;
  const std::vector<IteratorId> above = iterators_above(ranked.host, ranked.judgement.culprit);
  const auto found =
      std::find_if(above.begin(), above.end(), [&](IteratorId id) { return is_parallel_interleave(ranked[id]); });
  return found == above.end() ? kNoIterator : *found;
}

std::optional<std::int64_t> highest_parallelism(const RankedPipeline& ranked, IteratorId stage) {
  if (is_parallel_interleave(ranked[stage])) return ranked[stage].number("cycle_length");
  const IteratorId root = ranked[stage].root;
  const std::optional<std::int64_t> pool = root == kNoIterator ? std::nullopt : ranked[root].number("threadpool_size");
  return pool ? pool : ranked.pipeline.cpu_budget;
}

std::optional<std::int64_t> parallelism_to_try(const RankedPipeline& ranked, IteratorId stage) {
  const std::optional<std::int64_t> now = ranked[stage].number("parallelism");
  const std::int64_t most = std::max(now.value_or(0), ranked.pipeline.cpu_budget.value_or(0));
  // A damaged trace may say anything.
  constexpr std::int64_t kSane = 1 << 20;
  return most > 0 && most < kSane ? std::optional(2 * most) : std::nullopt;
}

std::optional<std::int64_t> pool_that_binds(const RankedPipeline& ranked, IteratorId stage) {
  const IteratorId root = ranked[stage].root;
  const std::optional<std::int64_t> pool = root == kNoIterator ? std::nullopt : ranked[root].number("threadpool_size");
  const std::int64_t cores = ranked.pipeline.cpu_budget.value_or(0);
  if (!pool || *pool <= 0 || *pool >= cores) return std::nullopt;
  const std::optional<std::int64_t> parallelism = ranked[stage].number("parallelism");
  return !parallelism || *parallelism >= *pool ? pool : std::nullopt;
}

std::string code_with_pool(std::int64_t threads, std::string_view last_line) {
  return fmt::format("options = tf.data.Options()\noptions.threading.private_threadpool_size = {}\n{}", threads,
                     last_line);
}

IteratorId unseen_copies_after(const HostMeasurement& host, IteratorId iterator) {
  std::vector<IteratorId> stages = iterators_above(host, iterator);
  stages.insert(stages.begin(), iterator);
  const auto found = std::find_if(stages.begin(), stages.end(), [&](IteratorId id) {
    return kind_of(host.iterators[index_of(id)]) == "ParallelBatch";
  });
  return found == stages.end() ? kNoIterator : *found;
}

std::optional<double> producer_share(const RankedPipeline& ranked) {
  // The prefetch of a device pipeline is not the user's.
  if (ranked.pipeline.is_device) return std::nullopt;
  const IteratorId prefetch = ranked.pipeline.prefetch;
  const double cadence = mean_cadence(ranked.pipeline);
  if (prefetch == kNoIterator || cadence <= 0 || ranked[prefetch].children.empty()) return std::nullopt;
  const IteratorMeasurement& input = ranked[ranked[prefetch].children.front()];
  if (input.calls == 0) return std::nullopt;
  return static_cast<double>(input.total) / static_cast<double>(input.calls) / cadence;
}

bool keeps_ops_on_one_thread(const RankedPipeline& ranked) {
  const std::vector<IteratorId> above = iterators_above(ranked.host, ranked.judgement.culprit);
  return std::any_of(above.begin(), above.end(), [&](IteratorId id) {
    return kind_of(ranked[id]) == "MaxIntraOpParallelism" || ranked[id].number("intra_op_parallelism") == 1;
  });
}

std::optional<double> ram_budget_megabytes(const HostMeasurement& host, IteratorId iterator) {
  const IteratorId root = host.iterators[index_of(iterator)].root;
  if (root == kNoIterator) return std::nullopt;
  const std::optional<double> budget = megabytes(host.iterators[index_of(root)], "ram_budget_megabytes");
  return budget && *budget > 0 ? budget : std::nullopt;
}

std::optional<double> buffered_megabytes(const IteratorMeasurement& iterator) {
  return megabytes(iterator, "buffered_bytes_MB");
}

}  // namespace doctor
