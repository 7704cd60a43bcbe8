#include "tree/iterator_forest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/merge.h"
#include "base/parallel.h"
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
    ref_.row = lane_->iterator_calls[ref_.row].subtree_end;
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
    for (; !done(); ref_.row = lane_->iterator_calls[ref_.row].subtree_end) {
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
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) lanes.emplace_back(trace, static_cast<LaneId>(lane));
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

/// GetNext ops with iterator calls inside: the ordinary consumer.
void add_get_next_calls(const Trace& trace, IteratorForest& forest) {
  for (std::size_t index = 0; index < trace.lanes.size(); ++index) {
    const Lane& lane = trace.lanes[index];
    for (std::size_t position = 0; position < lane.get_next_calls.size(); ++position) {
      const GetNextCall& get_next = lane.get_next_calls[position];
      if (get_next.first_row >= get_next.end_row) continue;
      RootCall call{{get_next.span.start(), get_next.span.end()}, kNoIterator, static_cast<LaneId>(index), {}};
      for (std::uint32_t row = get_next.first_row; row < get_next.end_row; row = lane.iterator_calls[row].subtree_end) {
        call.rows.push_back(row);
      }
      const CallRef first{call.lane, call.rows.front()};
      call.root = forest[iterator_of(trace, forest, first)].root;
      forest.root_calls.push_back(std::move(call));
    }
  }
}

/// Without GetNext ops around them (some ways to iterate have none) the calls of the roots themselves are the
/// consumer's. TF1 timelines have no ids to tell a root by, so there the tree alone decides.
void add_calls_of_roots(const Trace& trace, IteratorForest& forest) {
  for (const CallRef ref : forest.loose_root_calls) {
    if (trace.lanes_are_threads && has_parent_id(trace, ref)) continue;
    const PackedSpan span = call_of(trace, ref).span;
    forest.root_calls.push_back({{span.start(), span.end()}, iterator_of(trace, forest, ref), ref.lane, {ref.row}});
  }
}

/// Session timelines of TF2 show GetNext ops and nothing inside: good for a verdict, not for a culprit.
void add_bare_get_next_calls(const Trace& trace, IteratorForest& forest) {
  std::vector<RootCall> calls;
  for (std::size_t index = 0; index < trace.lanes.size(); ++index) {
    const Lane& lane = trace.lanes[index];
    for (std::size_t position = 0; position < lane.get_next_calls.size(); ++position) {
      const PackedSpan span = lane.get_next_calls[position].span;
      calls.push_back({{span.start(), span.end()}, kNoIterator, static_cast<LaneId>(index), {}});
    }
  }
  std::stable_sort(calls.begin(), calls.end(), [](const RootCall& a, const RootCall& b) {
    return a.span.start != b.span.start ? a.span.start < b.span.start : a.span.end > b.span.end;
  });
  // An op may be drawn on two lanes at once: the enclosing one counts.
  Picoseconds latest_end = std::numeric_limits<Picoseconds>::min();
  for (RootCall& call : calls) {
    if (call.span.end <= latest_end) continue;
    latest_end = call.span.end;
    forest.root_calls.push_back(std::move(call));
  }
}

void collect_root_calls(const Trace& trace, IteratorForest& forest) {
  add_get_next_calls(trace, forest);
  if (forest.root_calls.empty()) add_calls_of_roots(trace, forest);
  if (forest.root_calls.empty()) add_bare_get_next_calls(trace, forest);
  std::stable_sort(forest.root_calls.begin(), forest.root_calls.end(),
                   [](const RootCall& a, const RootCall& b) { return a.span.start < b.span.start; });
}

/// Stands on one of a lane's produced elements, in order of element id and start of the input.
class ProducedCursor {
 public:
  ProducedCursor(const Trace& trace, LaneId lane) : lane_(&trace.lanes[index_of(lane)]), lane_id_(lane) {
    // Ids are times in nanoseconds, so a thread's elements are almost always in order already.
    const std::size_t count = lane_->produced.size();
    for (std::size_t index = 1; index < count && order_.empty(); ++index) {
      if (key_of(index) < key_of(index - 1)) order_.resize(count);
    }
    std::iota(order_.begin(), order_.end(), 0u);
    std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return std::make_pair(key_of(a), a) < std::make_pair(key_of(b), b);
    });
    settle();
  }

  bool done() const { return position_ >= lane_->produced.size(); }
  void next() {
    ++position_;
    settle();
  }
  ProducedRef ref() const { return {lane_id_, order_.empty() ? position_ : order_[position_]}; }

  friend bool operator<(const ProducedCursor& a, const ProducedCursor& b) {
    return a.key_ != b.key_ ? a.key_ < b.key_ : a.lane_id_ < b.lane_id_;
  }

 private:
  using Key = std::pair<std::uint64_t, Picoseconds>;

  Key key_of(std::size_t index) const {
    const ProducedElement& element = lane_->produced[index];
    return {element.element_id.value(), element.row == kNoRow ? 0 : lane_->iterator_calls[element.row].span.start()};
  }
  void settle() {
    if (!done()) key_ = key_of(ref().index);
  }

  const Lane* lane_;
  LaneId lane_id_;
  std::uint32_t position_ = 0;
  std::vector<std::uint32_t> order_;  ///< empty if the elements are in order as they are
  Key key_;
};

void collect_produced_elements(const Trace& trace, IteratorForest& forest) {
  std::size_t count = 0;
  std::vector<ProducedCursor> lanes;
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    count += trace.lanes[lane].produced.size();
    lanes.emplace_back(trace, static_cast<LaneId>(lane));
  }
  forest.produced.reserve(count);
  visit_merged(std::move(lanes), [&](const ProducedCursor& produced) { forest.produced.push_back(produced.ref()); });
}

}  // namespace

bool is_same_or_below(const IteratorForest& forest, IteratorId iterator, IteratorId ancestor) {
  while (iterator != kNoIterator && iterator != ancestor) iterator = forest[iterator].parent;
  return iterator == ancestor;
}

std::optional<std::int64_t> number_attribute(const Trace& trace, const LogicalIterator& iterator,
                                             std::string_view name) {
  for (const Attribute& attribute : iterator.attributes) {
    if (attribute.is_number && trace.strings[attribute.name] == name) return attribute.number;
  }
  return std::nullopt;
}

IteratorForest build_tree(const Trace& trace, const WorkOptions& work) {
  IteratorForest forest;
  build_logical_iterators(trace, forest);
  run_parallel(threads_for(work, trace.iterator_event_count), 2, [&](std::size_t task) {
    if (task == 0) return collect_produced_elements(trace, forest);
    collect_outermost_calls(trace, forest);
    collect_root_calls(trace, forest);
  });
  return forest;
}

}  // namespace doctor
