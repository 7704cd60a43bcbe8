#include "measure/functions/function_owners.h"

#include "base/parallel.h"
#include "base/search.h"

namespace doctor {
namespace {

using Entry = FunctionTable::Entry;

/// Function runs or ops of one lane whose owners are looked for together.
struct PartOfLane {
  std::size_t lane = 0;
  std::size_t first = 0;
  std::size_t end = 0;
};

/// What all lanes have, in parts of a thread's work: as a rule one lane has most of it. `count_of(lane)` says how much
/// a lane has.
template <typename CountOf>
std::vector<PartOfLane> parts_of_lanes(const Trace& trace, CountOf count_of) {
  constexpr std::size_t kLongest = std::size_t{1} << 16;  // events: threads share a long lane evenly so
  std::vector<PartOfLane> parts;
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    const std::size_t count = count_of(trace.lanes[lane]);
    for (std::size_t first = 0; first < count; first += kLongest) {
      parts.push_back({lane, first, std::min(first + kLongest, count)});
    }
  }
  return parts;
}

/// Indexed by the parts, which have function runs: of the lane's calls that are in no other the last that begins before
/// the first run, or the first.
std::vector<std::uint32_t> calls_before(const Trace& trace, const std::vector<PartOfLane>& parts) {
  std::vector<std::uint32_t> before;
  before.reserve(parts.size());
  std::uint32_t call = 0;
  for (const PartOfLane& part : parts) {
    const Lane& lane = trace.lanes[part.lane];
    if (part.first == 0) call = 0;
    const Picoseconds start = lane.function_runs[part.first].span.start();
    for (std::uint32_t next = call;
         next < lane.iterator_calls.size() && lane.iterator_calls[next].span.start() <= start;
         next = lane.iterator_calls.subtree_end(next)) {
      call = next;
    }
    before.push_back(call);
  }
  return before;
}

/// Calls `visit(run index, IteratorId)` for each run of the part; `call` is calls_before() of it, `elements` is indexed
/// by the lane's runs. kNoIterator: of a run on a thread without any call.
template <typename Visit>
void visit_owners(const Trace& trace, const PartOfLane& part, std::uint32_t call, const IteratorForest& forest,
                  const std::vector<bool>& dispatches, std::span<const std::uint32_t> elements, Visit visit) {
  const Lane& lane = trace.lanes[part.lane];
  // The iterator above a call, if it dispatches functions for what the call returns.
  const auto dispatcher_above = [&](const IteratorCall& input) {
    const IteratorId above = forest[forest.iterator_of(input)].parent;
    return above != kNoIterator && dispatches[index_of(above)] ? above : kNoIterator;
  };
  const IteratorCalls& calls = lane.iterator_calls;
  std::uint32_t call_before = kNoRow;
  std::uint32_t next = call;
  for (std::size_t index = part.first; index < part.end; ++index) {
    const FunctionRun& run = lane.function_runs[index];
    for (; next < calls.size() && calls[next].span.start() <= run.span.start(); next = calls.subtree_end(next)) {
      call_before = next;
    }
    if (run.row == kNoRow && calls.empty()) {
      visit(index, kNoIterator);
      continue;
    }
    // The call that fetched what the element is made of.
    std::uint32_t input = elements[index] == kNoRow ? kNoRow : trace.produced[elements[index]].row;
    if (input == kNoRow && run.row == kNoRow) input = call_before == kNoRow ? 0 : call_before;
    IteratorId owner = input == kNoRow ? kNoIterator : dispatcher_above(calls[input]);
    if (owner == kNoIterator && run.row != kNoRow) owner = forest.iterator_of(calls[run.row]);
    visit(index, owner);
  }
}

/// Finds the owners of all runs.
class OwnerFinder {
 public:
  OwnerFinder(const Trace& trace, const IteratorForest& forest, const WorkOptions& work)
      : trace_(trace),
        forest_(forest),
        work_(work),
        dispatches_(dispatchers(forest)),
        has_functions_(forest.iterators.size()) {
    const std::vector<PartOfLane> parts =
        parts_of_lanes(trace, [](const Lane& lane) { return lane.function_runs.size(); });
    std::vector<std::uint32_t> calls;
    // Each is a walk over much of the trace on one thread.
    run_parallel(threads_for(work, trace.iterator_event_count), 2, [&](std::size_t task) {
      if (task == 0) elements_ = elements_of_runs(trace, std::numeric_limits<Picoseconds>::max());
      if (task == 1) calls = calls_before(trace, parts);
    });
    std::size_t runs = 0;
    for (std::size_t index = 0; index < parts.size(); ++index) {
      parts_.push_back({parts[index], calls[index], runs, 0, {}});
      runs += parts[index].end - parts[index].first;
    }
    entries_.resize(runs);  // at most; growing would need three times as much for a moment
  }

  FunctionTable find() {
    const std::vector<std::size_t> parts =
        largest_first(parts_.size(), [&](std::size_t part) { return parts_[part].runs.end - parts_[part].runs.first; });
    run_parallel(threads_for(work_, entries_.size()), parts.size(),
                 [&](std::size_t task) { find(parts_[parts[task]]); });
    elements_ = {};
    join();
    return FunctionTable(std::move(entries_), work_);
  }

  /// Indexed by IteratorId: it owns one.
  const std::vector<bool>& has_functions() const { return has_functions_; }

 private:
  /// What is found of one part.
  struct OfPart {
    PartOfLane runs;
    std::uint32_t call = 0;  ///< see calls_before()
    std::size_t first = 0;   ///< of its entries
    std::size_t count = 0;
    std::vector<PackedToken> loose;  ///< runs on a thread without calls
  };

  void find(OfPart& found) {
    const Lane& lane = trace_.lanes[found.runs.lane];
    const auto visit = [&](std::size_t index, IteratorId owner) {
      const PackedToken id = lane.function_runs[index].function_id;
      if (id.value() == 0) return;
      if (owner == kNoIterator && lane.iterator_calls.empty()) found.loose.push_back(id);
      if (owner != kNoIterator) entries_[found.first + found.count++] = {id, owner};
    };
    visit_owners(trace_, found.runs, found.call, forest_, dispatches_, elements_[found.runs.lane], visit);
  }

  /// Closes the gaps between the entries of the parts, and guesses whose the loose runs are.
  void join() {
    std::size_t end = 0;
    for (const OfPart& part : parts_) {
      const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(part.first);
      if (part.first != end) {
        std::copy(first, first + static_cast<std::ptrdiff_t>(part.count),
                  entries_.begin() + static_cast<std::ptrdiff_t>(end));
      }
      end += part.count;
    }
    entries_.resize(end);
    for (const Entry& entry : entries_) has_functions_[index_of(entry.owner)] = true;
    const IteratorId guess = first_without_functions();
    if (guess == kNoIterator) return;
    for (const OfPart& part : parts_) {
      for (const PackedToken id : part.loose) entries_.push_back({id, guess});
      has_functions_[index_of(guess)] = has_functions_[index_of(guess)] || !part.loose.empty();
    }
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

  const Trace& trace_;
  const IteratorForest& forest_;
  const WorkOptions& work_;
  std::vector<bool> dispatches_;     ///< indexed by IteratorId: its threads run functions
  std::vector<bool> has_functions_;  ///< indexed by IteratorId: owns one
  ElementsOfRuns elements_;
  std::vector<OfPart> parts_;  ///< in order of the lanes
  std::vector<Entry> entries_;
};

bool has_op_in_function(const ChunkedVector<OpCall>& ops) {
  for (std::size_t first = 0; first < ops.size();) {
    const std::span<const OpCall> run = ops.run_from(first);
    if (std::any_of(run.begin(), run.end(), [](const OpCall& op) { return op.function_id.value() != 0; })) return true;
    first += run.size();
  }
  return false;
}

/// Finds the owners of some ops: those of a piece of a lane.
class OwnersOfOps {
 public:
  /// `numbers` is indexed by IteratorId: its number in FunctionOwners; `op_kinds` by StringId.
  OwnersOfOps(const FunctionTable& table, const std::vector<std::uint16_t>& numbers,
              const std::vector<OpKind>& op_kinds)
      : table_(table), numbers_(numbers), op_kinds_(op_kinds) {}

  /// Fills `owners`, indexed as `ops`; empty: nobody asks. Returns how long the longest op takes.
  Picoseconds find(std::span<const OpCall> ops, std::span<std::uint16_t> owners) {
    Picoseconds longest = 0;
    ids_.clear();
    places_.clear();
    ids_.reserve(ops.size());
    places_.reserve(ops.size());
    for (std::size_t index = 0; index < ops.size(); ++index) {
      if (op_kinds_[index_of(ops[index].type)] == OpKind::wrapper) continue;
      longest = std::max(longest, ops[index].span.duration());
      const std::uint64_t id = ops[index].function_id.value();
      if (id == 0 || owners.empty()) continue;
      if (ids_.empty() || ids_.back() != id) ids_.push_back(id);  // an executor runs the ops of a function in a row
      places_.push_back({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(ids_.size() - 1)});
    }
    found_.resize(ids_.size());
    table_.find(ids_, found_);
    for (const auto& [op, id] : places_) {
      if (found_[id] != kNoIterator) owners[op] = numbers_[index_of(found_[id])];
    }
    return longest;
  }

 private:
  const FunctionTable& table_;
  const std::vector<std::uint16_t>& numbers_;
  const std::vector<OpKind>& op_kinds_;
  std::vector<std::uint64_t> ids_;                               ///< of the functions that the ops are in
  std::vector<IteratorId> found_;                                ///< likewise: who owns them
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places_;  ///< ops, and the index of their function in these
};

}  // namespace

std::vector<bool> dispatchers(const IteratorForest& forest) {
  std::vector<bool> dispatches;
  for (const LogicalIterator& iterator : forest.iterators) {
    dispatches.push_back(iterator.has(Trait::dispatches_function));
  }
  return dispatches;
}

ElementsOfRuns elements_of_runs(const Trace& trace, Picoseconds until) {
  ElementsOfRuns elements(trace.lanes.size());
  for (std::size_t lane = 0; lane < elements.size(); ++lane) {
    const ChunkedVector<FunctionRun>& runs = trace.lanes[lane].function_runs;
    if (runs.empty()) continue;
    const std::size_t count = runs.partition_point(0, [&](const FunctionRun& run) { return run.span.start() < until; });
    elements[lane].resize(count, kNoRow);
  }
  for (std::size_t element = 0; element < trace.produced.size(); ++element) {
    const ProducedElement& produced = trace.produced[element];
    std::vector<std::uint32_t>& of_lane = elements[index_of(LaneId{produced.lane})];
    if (produced.last_run < of_lane.size()) of_lane[produced.last_run] = static_cast<std::uint32_t>(element);
  }
  return elements;
}

std::vector<IteratorId> owners_of_runs(const Trace& trace, std::size_t lane, const IteratorForest& forest,
                                       const std::vector<bool>& dispatches, std::span<const std::uint32_t> elements) {
  std::vector<IteratorId> owners;
  owners.reserve(elements.size());
  visit_owners(trace, {lane, 0, elements.size()}, 0, forest, dispatches, elements,
               [&](std::size_t, IteratorId owner) { owners.push_back(owner); });
  return owners;
}

FunctionOwners::FunctionOwners(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                               const WorkOptions& work)
    : owners_{kNoIterator}, owners_of_ops_(trace.lanes.size()) {
  OwnerFinder finder(trace, forest, work);
  const FunctionTable table = finder.find();
  if (table.empty()) return;
  longest_ops_.assign(trace.lanes.size(), 0);
  // No pipeline has as many iterators with functions as two bytes can tell apart; those beyond have none.
  std::vector<std::uint16_t> numbers(forest.iterators.size(), 0);
  for (std::size_t iterator = 0; iterator < numbers.size() && owners_.size() <= UINT16_MAX; ++iterator) {
    if (!finder.has_functions()[iterator]) continue;
    numbers[iterator] = static_cast<std::uint16_t>(owners_.size());
    owners_.push_back(static_cast<IteratorId>(iterator));
  }
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    const ChunkedVector<OpCall>& ops = trace.lanes[lane].ops;
    if (has_op_in_function(ops)) owners_of_ops_[lane].resize(ops.size(), 0);
  }
  const std::vector<PartOfLane> parts = parts_of_lanes(trace, [](const Lane& lane) { return lane.ops.size(); });
  std::vector<Picoseconds> longest(parts.size(), 0);
  run_parallel(threads_for(work, trace.iterator_event_count), parts.size(), [&](std::size_t index) {
    const PartOfLane& part = parts[index];
    const ChunkedVector<OpCall>& ops = trace.lanes[part.lane].ops;
    const std::span<std::uint16_t> owners = owners_of_ops_[part.lane];
    OwnersOfOps finder_of_part(table, numbers, op_kinds);
    for (std::size_t first = part.first; first < part.end;) {
      const std::span<const OpCall> all = ops.run_from(first);
      const std::span<const OpCall> some = all.first(std::min(all.size(), part.end - first));
      const std::span<std::uint16_t> of_these = owners.empty() ? owners : owners.subspan(first, some.size());
      longest[index] = std::max(longest[index], finder_of_part.find(some, of_these));
      first += some.size();
    }
  });
  for (std::size_t index = 0; index < parts.size(); ++index) {
    Picoseconds& of_lane = longest_ops_[parts[index].lane];
    of_lane = std::max(of_lane, longest[index]);
  }
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
