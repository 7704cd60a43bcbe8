#include "tree/build_tree.h"

#include <algorithm>
#include <utility>

#include "base/merge.h"
#include "tree/logical_iterators.h"

namespace doctor {
namespace {

IteratorId iterator_of(const Trace& trace, const IteratorForest& forest, CallRef ref) {
  return forest.iterator_of(call_of(trace, ref));
}

bool has_parent_id(const Trace& trace, CallRef ref) {
  return trace.instances[index_of(call_of(trace, ref).instance)].parent_id.has_value();
}

/// Stands on one of a lane's calls that neither an iterator call nor a GetNext op encloses.
class OutermostCall {
 public:
  OutermostCall(const Trace& trace, LaneId lane) : lane_(&trace.lanes[index_of(lane)]), ref_{lane, 0} { settle(); }

  bool done() const { return ref_.row >= lane_->iterator_calls.size(); }
  void next() {
    ref_.row = lane_->iterator_calls.subtree_end(ref_.row);
    settle();
  }
  CallRef ref() const { return ref_; }
  const IteratorCall& call() const { return lane_->iterator_calls[ref_.row]; }

  friend bool operator<(const OutermostCall& a, const OutermostCall& b) {
    return a.start_ != b.start_ ? a.start_ < b.start_ : a.ref_.lane < b.ref_.lane;
  }

 private:
  /// Goes on to the next call that is in no GetNext op.
  void settle() {
    const ChunkedVector<GetNextCall>& get_next = lane_->get_next_calls;
    for (; !done(); ref_.row = lane_->iterator_calls.subtree_end(ref_.row)) {
      while (next_get_next_ < get_next.size() && get_next[next_get_next_].end_row <= ref_.row) ++next_get_next_;
      if (next_get_next_ < get_next.size() && get_next[next_get_next_].first_row <= ref_.row) continue;
      start_ = call().span.start();
      return;
    }
  }

  const Lane* lane_;
  CallRef ref_;
  std::size_t next_get_next_ = 0;
  Picoseconds start_ = 0;
};

/// Makes room for just as many calls as will come: growing would need twice as much for a moment.
void reserve_outermost_calls(const Trace& trace, IteratorForest& forest) {
  std::vector<std::size_t> counts(forest.iterators.size(), 0);
  std::size_t loose_count = 0;
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    for (OutermostCall call(trace, static_cast<LaneId>(lane)); !call.done(); call.next()) {
      const IteratorId id = forest.iterator_of(call.call());
      ++counts[index_of(id)];
      if (forest[id].parent == kNoIterator) ++loose_count;
    }
  }
  for (std::size_t index = 0; index < counts.size(); ++index) forest.iterators[index].top_calls.reserve(counts[index]);
  forest.loose_root_calls.reserve(loose_count);
}

/// The calls that no other iterator call encloses and that are not the consumer's: background work.
void collect_outermost_calls(const Trace& trace, IteratorForest& forest) {
  reserve_outermost_calls(trace, forest);
  std::vector<OutermostCall> lanes;
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    OutermostCall first(trace, static_cast<LaneId>(lane));
    if (!first.done()) lanes.push_back(first);
  }
  visit_merged(std::move(lanes), [&](const OutermostCall& outermost) {
    const IteratorCall& call = outermost.call();
    LogicalIterator& iterator = forest.iterators[index_of(forest.iterator_of(call))];
    const Picoseconds end = call.span.end();
    if (iterator.top_calls.size() % kCallBlock == 0) {
      const Picoseconds latest = iterator.top_calls.empty() ? end : iterator.block_latest_end.back();
      iterator.block_latest_end.push_back(latest);
    }
    iterator.block_latest_end.back() = std::max(iterator.block_latest_end.back(), end);
    iterator.top_calls.push_back(outermost.ref());
    if (iterator.parent == kNoIterator) forest.loose_root_calls.push_back(outermost.ref());
  });
}

/// A consumer has one thread as a rule, whose calls are in order already: sorting would copy half of them.
template <typename Before>
void stable_sort_unless_sorted(std::vector<RootCall>& calls, Before before) {
  if (!std::is_sorted(calls.begin(), calls.end(), before)) std::stable_sort(calls.begin(), calls.end(), before);
}

std::size_t count_get_next_calls(const Trace& trace) {
  std::size_t count = 0;
  for (const Lane& lane : trace.lanes) count += lane.get_next_calls.size();
  return count;
}

/// GetNext ops with iterator calls inside: the ordinary consumer.
void add_get_next_calls(const Trace& trace, IteratorForest& forest) {
  forest.root_calls.reserve(count_get_next_calls(trace));
  for (std::size_t index = 0; index < trace.lanes.size(); ++index) {
    const Lane& lane = trace.lanes[index];
    for (std::size_t position = 0; position < lane.get_next_calls.size(); ++position) {
      const GetNextCall& get_next = lane.get_next_calls[position];
      if (get_next.first_row >= get_next.end_row) continue;
      const CallRef first{static_cast<LaneId>(index), get_next.first_row};
      forest.root_calls.push_back({{get_next.span.start(), get_next.span.end()},
                                   forest[iterator_of(trace, forest, first)].root,
                                   first.lane,
                                   first.row,
                                   get_next.end_row});
    }
  }
}

/// What an op consumes that goes over the dataset by itself: each call of the outermost iterator is one of its loop.
void add_calls_of_loops(const Trace& trace, IteratorForest& forest) {
  if (forest.loop_roots.empty()) return;
  std::vector<bool> is_loop(forest.iterators.size(), false);
  for (const IteratorId root : forest.loop_roots) is_loop[index_of(root)] = true;
  for (std::size_t index = 0; index < trace.lanes.size(); ++index) {
    const IteratorCalls& calls = trace.lanes[index].iterator_calls;
    for (std::uint32_t row = 0; row < calls.size(); ++row) {
      const IteratorId id = forest.iterator_of(calls[row]);
      if (!is_loop[index_of(id)]) continue;
      forest.root_calls.push_back(
          {{calls[row].span.start(), calls[row].span.end()}, id, static_cast<LaneId>(index), row, row + 1});
    }
  }
}

/// Without GetNext ops around them (some ways to iterate have none) the calls of the roots themselves are the
/// consumer's. TF1 timelines have no ids to tell a root by, so there the tree alone decides.
void add_calls_of_roots(const Trace& trace, IteratorForest& forest) {
  forest.root_calls.reserve(forest.loose_root_calls.size());
  for (const CallRef ref : forest.loose_root_calls) {
    if (trace.lanes_are_threads && has_parent_id(trace, ref)) continue;
    const PackedSpan span = call_of(trace, ref).span;
    forest.root_calls.push_back(
        {{span.start(), span.end()}, iterator_of(trace, forest, ref), ref.lane, ref.row, ref.row + 1});
  }
}

/// Session timelines of TF2 show GetNext ops and nothing inside: good for a verdict, not for a culprit.
void add_bare_get_next_calls(const Trace& trace, IteratorForest& forest) {
  std::vector<RootCall>& calls = forest.root_calls;
  calls.reserve(count_get_next_calls(trace));
  for (std::size_t index = 0; index < trace.lanes.size(); ++index) {
    const Lane& lane = trace.lanes[index];
    for (std::size_t position = 0; position < lane.get_next_calls.size(); ++position) {
      const PackedSpan span = lane.get_next_calls[position].span;
      calls.push_back({{span.start(), span.end()}, kNoIterator, static_cast<LaneId>(index)});
    }
  }
  stable_sort_unless_sorted(calls, [](const RootCall& a, const RootCall& b) {
    return a.span.start != b.span.start ? a.span.start < b.span.start : a.span.end > b.span.end;
  });
  // An op may be drawn on two lanes at once: the enclosing one counts.
  Picoseconds latest_end = std::numeric_limits<Picoseconds>::min();
  std::erase_if(calls, [&](const RootCall& call) {
    if (call.span.end <= latest_end) return true;
    latest_end = call.span.end;
    return false;
  });
}

void collect_root_calls(const Trace& trace, IteratorForest& forest) {
  add_get_next_calls(trace, forest);
  add_calls_of_loops(trace, forest);
  if (forest.root_calls.empty()) add_calls_of_roots(trace, forest);
  if (forest.root_calls.empty()) add_bare_get_next_calls(trace, forest);
  stable_sort_unless_sorted(forest.root_calls,
                            [](const RootCall& a, const RootCall& b) { return a.span.start < b.span.start; });
}

}  // namespace

IteratorForest build_tree(const Trace& trace) {
  IteratorForest forest;
  build_logical_iterators(trace, forest);
  collect_outermost_calls(trace, forest);
  collect_root_calls(trace, forest);
  return forest;
}

}  // namespace doctor
