#include "measure/function_ids.h"

#include <algorithm>
#include <bit>

#include "tree/dataset_kind.h"

namespace doctor {
namespace {

/// Ids of the function runs that `is_wanted(lane, run)` picks.
template <typename Predicate>
std::vector<std::uint64_t> collect_ids(const Trace& trace, Predicate is_wanted) {
  std::size_t most = 0;
  for (const Lane& lane : trace.lanes) most += lane.function_runs.size();
  std::vector<std::uint64_t> ids;
  ids.reserve(most);
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.function_runs.size(); ++index) {
      const FunctionRun& run = lane.function_runs[index];
      if (run.function_id.value() != 0 && is_wanted(lane, run)) ids.push_back(run.function_id.value());
    }
  }
  return ids;
}

/// Ids of the runs dispatched while making elements of `iterator`.
std::vector<std::uint64_t> ids_by_produced_element(const Trace& trace, const IteratorForest& forest,
                                                   IteratorId iterator) {
  std::vector<std::uint64_t> ids;
  ids.reserve(forest.produced.size());  // at most; growing would need three times as much for a moment
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.produced.size(); ++index) {
      const ProducedElement& produced = lane.produced[index];
      if (produced.row == kNoRow || produced.last_run == kNoRow) continue;
      const IteratorId input = forest.iterator_of(lane.iterator_calls[produced.row]);
      if (forest[input].parent == iterator) ids.push_back(lane.function_runs[produced.last_run].function_id.value());
    }
  }
  return ids;
}

std::vector<std::uint64_t> function_ids_of(const Trace& trace, const IteratorForest& forest, IteratorId iterator) {
  const LogicalIterator& node = forest[iterator];
  if (!node.is_async || is_generator(node.short_name)) {
    return collect_ids(trace, [&](const Lane& lane, const FunctionRun& run) {
      return run.row != kNoRow && forest.iterator_of(lane.iterator_calls[run.row]) == iterator;
    });
  }
  std::vector<std::uint64_t> ids = ids_by_produced_element(trace, forest, iterator);
  if (!ids.empty()) return ids;
  return collect_ids(trace, [](const Lane&, const FunctionRun& run) { return run.row == kNoRow; });
}

}  // namespace

FunctionIds::FunctionIds(const Trace& trace, const IteratorForest& forest, IteratorId iterator)
    : FunctionIds(function_ids_of(trace, forest, iterator)) {}

FunctionIds::FunctionIds(std::vector<std::uint64_t> ids) : ids_(std::move(ids)) {
  if (ids_.empty()) return;
  const auto [lowest, highest] = std::minmax_element(ids_.begin(), ids_.end());
  lowest_ = *lowest;
  highest_ = *highest;
  // 16 ids to a bucket, or 8, if they are spread evenly.
  const int bits = static_cast<int>(std::bit_width(highest_ - lowest_));
  shift_ = static_cast<unsigned>(std::clamp(bits - static_cast<int>(std::bit_width(ids_.size())) + 4, 0, 63));
  bucket_begins_.assign(bucket_of(highest_) + 2, 0);
  for (const std::uint64_t id : ids_) ++bucket_begins_[bucket_of(id) + 1];
  for (std::size_t bucket = 1; bucket < bucket_begins_.size(); ++bucket) {
    bucket_begins_[bucket] += bucket_begins_[bucket - 1];
  }
  // In place: every id is swapped to where the ids of its bucket are filled up to.
  std::vector<std::uint32_t> filled(bucket_begins_.begin(), bucket_begins_.end() - 1);
  for (std::size_t bucket = 0; bucket < filled.size(); ++bucket) {
    while (filled[bucket] < bucket_begins_[bucket + 1]) {
      std::uint64_t& id = ids_[filled[bucket]];
      std::swap(id, ids_[filled[bucket_of(id)]++]);
    }
    std::sort(ids_.begin() + bucket_begins_[bucket], ids_.begin() + bucket_begins_[bucket + 1]);
  }
}

bool FunctionIds::contains(std::uint64_t id) const {
  if (ids_.empty() || id < lowest_ || id > highest_) return false;
  const std::size_t bucket = bucket_of(id);
  return std::binary_search(ids_.begin() + bucket_begins_[bucket], ids_.begin() + bucket_begins_[bucket + 1], id);
}

}  // namespace doctor
