#include "measure/function_owners.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/parallel.h"
#include "base/search.h"
#include "measure/lane_order.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

using Entry = FunctionTable::Entry;

/// Of the lane's first runs the row of the call that fetched the input of the element, where the trace tells which
/// element the run makes.
std::vector<std::uint32_t> input_rows(const Lane& lane, std::size_t run_count) {
  std::vector<std::uint32_t> rows(run_count, kNoRow);
  for (std::size_t index = 0; index < lane.produced.size(); ++index) {
    const ProducedElement& produced = lane.produced[index];
    if (produced.row != kNoRow && produced.last_run < rows.size()) rows[produced.last_run] = produced.row;
  }
  return rows;
}

/// Calls `visit(run index, IteratorId)` for each run of the lane before `until`. kNoIterator: of a run on a thread
/// without any call.
template <typename Visit>
void visit_owners(const Lane& lane, const IteratorForest& forest, const std::vector<bool>& dispatches,
                  Picoseconds until, Visit visit) {
  if (lane.function_runs.empty()) return;
  // The iterator above a call, if it dispatches functions for what the call returns.
  const auto dispatcher_above = [&](const IteratorCall& input) {
    const IteratorId above = forest[forest.iterator_of(input)].parent;
    return above != kNoIterator && dispatches[index_of(above)] ? above : kNoIterator;
  };
  const std::size_t run_count =
      lane.function_runs.partition_point(0, [&](const FunctionRun& run) { return run.span.start() < until; });
  const std::vector<std::uint32_t> inputs = input_rows(lane, run_count);
  const ChunkedVector<IteratorCall>& calls = lane.iterator_calls;
  std::uint32_t call_before = kNoRow;
  std::uint32_t next = 0;
  for (std::size_t index = 0; index < run_count; ++index) {
    const FunctionRun& run = lane.function_runs[index];
    for (; next < calls.size() && calls[next].span.start() <= run.span.start(); next = calls[next].subtree_end) {
      call_before = next;
    }
    if (run.row == kNoRow && calls.empty()) {
      visit(index, kNoIterator);
      continue;
    }
    std::uint32_t input = inputs[index];
    if (input == kNoRow && run.row == kNoRow) input = call_before == kNoRow ? 0 : call_before;
    IteratorId owner = input == kNoRow ? kNoIterator : dispatcher_above(calls[input]);
    if (owner == kNoIterator && run.row != kNoRow) owner = forest.iterator_of(calls[run.row]);
    visit(index, owner);
  }
}

/// Gathers the owners of the runs of one lane after another.
class OwnerFinder {
 public:
  OwnerFinder(const Trace& trace, const IteratorForest& forest)
      : forest_(forest), dispatches_(dispatchers(forest)), has_functions_(forest.iterators.size()) {
    std::size_t runs = 0;
    for (const Lane& lane : trace.lanes) runs += lane.function_runs.size();
    entries_.reserve(runs);  // at most; growing would need three times as much for a moment
  }

  void add(const Lane& lane) {
    constexpr Picoseconds kEnd = std::numeric_limits<Picoseconds>::max();
    visit_owners(lane, forest_, dispatches_, kEnd, [&](std::size_t index, IteratorId owner) {
      const PackedToken id = lane.function_runs[index].function_id;
      if (id.value() == 0) return;
      if (owner == kNoIterator && lane.iterator_calls.empty()) loose_.push_back(id);
      add(id, owner);
    });
  }

  FunctionTable finish() {
    const IteratorId guess = first_without_functions();
    for (const PackedToken id : loose_) add(id, guess);
    return FunctionTable(std::move(entries_));
  }

  /// Indexed by IteratorId: it owns one.
  const std::vector<bool>& has_functions() const { return has_functions_; }

 private:
  void add(PackedToken id, IteratorId owner) {
    if (owner == kNoIterator) return;
    entries_.push_back({id, owner});
    has_functions_[index_of(owner)] = true;
  }

  IteratorId first_without_functions() const {
    IteratorId first = kNoIterator;
    for (std::size_t index = 0; index < forest_.iterators.size(); ++index) {
      if (has_functions_[index] || !dispatches_[index]) continue;
      const std::string& name = forest_.iterators[index].long_name;
      if (first == kNoIterator || name < forest_[first].long_name) first = static_cast<IteratorId>(index);
    }
    return first;
  }

  const IteratorForest& forest_;
  std::vector<bool> dispatches_;     ///< indexed by IteratorId: its threads run functions
  std::vector<bool> has_functions_;  ///< indexed by IteratorId: owns one
  std::vector<Entry> entries_;
  std::vector<PackedToken> loose_;  ///< runs on threads without calls
};

/// Indexed as the lane's ops; empty if none is in a function of the table. Sets how long the longest op takes.
std::vector<std::uint16_t> owners_of_ops(const Lane& lane, const FunctionTable& table,
                                         const std::vector<std::uint16_t>& numbers, const std::vector<OpKind>& op_kinds,
                                         Picoseconds& longest) {
  std::vector<std::uint16_t> owners;
  std::uint64_t last_id = 0;
  std::uint16_t last_owner = 0;
  for (std::size_t index = 0; index < lane.ops.size(); ++index) {
    const OpCall& op = lane.ops[index];
    const std::uint64_t id = op.function_id.value();
    if (op_kinds[index_of(op.type)] == OpKind::wrapper) continue;
    longest = std::max(longest, op.span.duration());
    if (id == 0) continue;
    if (id != last_id) {  // an executor runs the ops of a function one after another
      const IteratorId owner = table[id];
      last_owner = owner == kNoIterator ? 0 : numbers[index_of(owner)];
      last_id = id;
    }
    if (last_owner == 0) continue;
    if (owners.empty()) owners.resize(lane.ops.size(), 0);
    owners[index] = last_owner;
  }
  return owners;
}

}  // namespace

std::vector<bool> dispatchers(const IteratorForest& forest) {
  std::vector<bool> dispatches;
  for (const LogicalIterator& iterator : forest.iterators) {
    dispatches.push_back(dataset_kind(iterator).has(Trait::dispatches_function));
  }
  return dispatches;
}

std::vector<IteratorId> owners_of_runs(const Lane& lane, const IteratorForest& forest,
                                       const std::vector<bool>& dispatches, Picoseconds until) {
  std::vector<IteratorId> owners;
  visit_owners(lane, forest, dispatches, until, [&](std::size_t, IteratorId owner) { owners.push_back(owner); });
  return owners;
}

FunctionTable::FunctionTable(std::vector<Entry> entries) : entries_(std::move(entries)) {
  if (!entries_.empty()) sort_into_buckets();
}

void FunctionTable::sort_into_buckets() {
  lowest_ = highest_ = entries_.front().id.value();
  for (const Entry& entry : entries_) {
    lowest_ = std::min(lowest_, entry.id.value());
    highest_ = std::max(highest_, entry.id.value());
  }
  // 4 ids to a bucket, or 2, if they are spread evenly.
  const int bits = static_cast<int>(std::bit_width(highest_ - lowest_));
  shift_ = static_cast<unsigned>(std::clamp(bits - static_cast<int>(std::bit_width(entries_.size())) + 2, 0, 63));
  bucket_begins_.assign(bucket_of(highest_) + 2, 0);
  for (const Entry& entry : entries_) ++bucket_begins_[bucket_of(entry.id.value()) + 1];
  for (std::size_t bucket = 1; bucket < bucket_begins_.size(); ++bucket) {
    bucket_begins_[bucket] += bucket_begins_[bucket - 1];
  }
  // In place: every entry is swapped to where those of its bucket are filled up to.
  std::vector<std::uint32_t> filled(bucket_begins_.begin(), bucket_begins_.end() - 1);
  for (std::size_t bucket = 0; bucket < filled.size(); ++bucket) {
    while (filled[bucket] < bucket_begins_[bucket + 1]) {
      Entry& entry = entries_[filled[bucket]];
      std::swap(entry, entries_[filled[bucket_of(entry.id.value())]++]);
    }
    // By owner too: of runs that share an id the same one is found, whatever their order.
    std::sort(entries_.begin() + bucket_begins_[bucket], entries_.begin() + bucket_begins_[bucket + 1],
              [](const Entry& left, const Entry& right) {
                const std::uint64_t id = left.id.value();
                return id != right.id.value() ? id < right.id.value() : left.owner < right.owner;
              });
  }
}

IteratorId FunctionTable::operator[](std::uint64_t id) const {
  if (entries_.empty() || id < lowest_ || id > highest_) return kNoIterator;
  const std::size_t bucket = bucket_of(id);
  const Entry* const end = entries_.data() + bucket_begins_[bucket + 1];
  const Entry* const entry =
      std::lower_bound(entries_.data() + bucket_begins_[bucket], end, id,
                       [](const Entry& one, std::uint64_t wanted) { return one.id.value() < wanted; });
  return entry != end && entry->id.value() == id ? entry->owner : kNoIterator;
}

FunctionOwners::FunctionOwners(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                               const WorkOptions& work)
    : owners_{kNoIterator}, owners_of_ops_(trace.lanes.size()) {
  OwnerFinder finder(trace, forest);
  for (const Lane& lane : trace.lanes) finder.add(lane);
  const FunctionTable table = finder.finish();
  if (table.empty()) return;
  longest_ops_.assign(trace.lanes.size(), 0);
  // No pipeline has as many iterators with functions as two bytes can tell apart; those beyond have none.
  std::vector<std::uint16_t> numbers(forest.iterators.size(), 0);
  for (std::size_t iterator = 0; iterator < numbers.size() && owners_.size() <= UINT16_MAX; ++iterator) {
    if (!finder.has_functions()[iterator]) continue;
    numbers[iterator] = static_cast<std::uint16_t>(owners_.size());
    owners_.push_back(static_cast<IteratorId>(iterator));
  }
  const std::vector<const Lane*> lanes = largest_lanes_first(trace);
  run_parallel(threads_for(work, trace.iterator_event_count), lanes.size(), [&](std::size_t index) {
    const auto lane = static_cast<std::size_t>(lanes[index] - trace.lanes.data());
    owners_of_ops_[lane] = owners_of_ops(*lanes[index], table, numbers, op_kinds, longest_ops_[lane]);
  });
}

std::size_t FunctionOwners::first_op_reaching(std::size_t lane, const ChunkedVector<OpCall>& ops,
                                              Picoseconds time) const {
  if (longest_ops_.empty() || time == std::numeric_limits<Picoseconds>::min()) return 0;
  return partition_point_near(ops.size(), 0,
                              [&](std::size_t op) { return ops[op].span.start() + longest_ops_[lane] <= time; });
}

bool FunctionOwners::has_function_of(const std::vector<bool>& iterators) const {
  return std::any_of(owners_.begin() + 1, owners_.end(), [&](IteratorId owner) { return iterators[index_of(owner)]; });
}

}  // namespace doctor
