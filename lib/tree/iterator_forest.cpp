#include "tree/iterator_forest.h"

#include <algorithm>
#include <tuple>

#include "tree/logical_iterators.h"

namespace doctor {
namespace {

Picoseconds start_of(const Trace& trace, CallRef ref) {
  return call_of(trace, ref).span.start();
}

IteratorId iterator_of(const Trace& trace, const IteratorForest& forest, CallRef ref) {
  return forest.iterator_of(call_of(trace, ref));
}

bool has_parent_id(const Trace& trace, CallRef ref) {
  return trace.instances[index_of(call_of(trace, ref).instance)].parent_id.has_value();
}

/// Sorts the calls of one lane after another into one order; in place, for a stable sort needs half as much again.
void sort_by_start(const Trace& trace, std::vector<CallRef>& calls) {
  const auto starts_before = [&](CallRef a, CallRef b) {
    return std::make_tuple(start_of(trace, a), a.lane, a.row) < std::make_tuple(start_of(trace, b), b.lane, b.row);
  };
  if (!std::is_sorted(calls.begin(), calls.end(), starts_before)) std::sort(calls.begin(), calls.end(), starts_before);
}

/// Splits the calls that no other iterator call encloses into those of the consumer's GetNext ops and background work.
void collect_outermost_calls(const Trace& trace, IteratorForest& forest) {
  for (std::size_t index = 0; index < trace.lanes.size(); ++index) {
    const Lane& lane = trace.lanes[index];
    const auto lane_id = static_cast<LaneId>(index);
    std::size_t next_get_next = 0;
    for (std::uint32_t row = 0; row < lane.iterator_calls.size(); row = lane.iterator_calls[row].subtree_end) {
      while (next_get_next < lane.get_next_calls.size() && lane.get_next_calls[next_get_next].end_row <= row) {
        ++next_get_next;
      }
      if (next_get_next < lane.get_next_calls.size() && lane.get_next_calls[next_get_next].first_row <= row) continue;
      const CallRef call{lane_id, row};
      const IteratorId id = iterator_of(trace, forest, call);
      forest.iterators[index_of(id)].top_calls.push_back(call);
      if (forest[id].parent == kNoIterator) forest.loose_root_calls.push_back(call);
    }
  }
  for (LogicalIterator& iterator : forest.iterators) {
    sort_by_start(trace, iterator.top_calls);
    Picoseconds latest = std::numeric_limits<Picoseconds>::min();
    iterator.top_calls.shrink_to_fit();
    iterator.block_latest_end.assign((iterator.top_calls.size() + kCallBlock - 1) / kCallBlock, latest);
    for (std::size_t index = 0; index < iterator.top_calls.size(); ++index) {
      latest = std::max(latest, call_of(trace, iterator.top_calls[index]).span.end());
      iterator.block_latest_end[index / kCallBlock] = latest;
    }
  }
  sort_by_start(trace, forest.loose_root_calls);
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

void collect_produced_elements(const Trace& trace, IteratorForest& forest) {
  std::size_t count = 0;
  for (const Lane& lane : trace.lanes) count += lane.produced.size();
  forest.produced.reserve(count);
  for (std::size_t index = 0; index < trace.lanes.size(); ++index) {
    for (std::uint32_t position = 0; position < trace.lanes[index].produced.size(); ++position) {
      forest.produced.push_back({static_cast<LaneId>(index), position});
    }
  }
  const auto key = [&](ProducedRef ref) {
    const Lane& lane = trace.lanes[index_of(ref.lane)];
    const ProducedElement& element = lane.produced[ref.index];
    const Picoseconds start = element.row == kNoRow ? 0 : lane.iterator_calls[element.row].span.start();
    return std::make_tuple(element.element_id.value(), start, ref.lane, ref.index);
  };
  std::sort(forest.produced.begin(), forest.produced.end(),
            [&](ProducedRef a, ProducedRef b) { return key(a) < key(b); });
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

IteratorForest build_tree(const Trace& trace) {
  IteratorForest forest;
  build_logical_iterators(trace, forest);
  collect_outermost_calls(trace, forest);
  collect_root_calls(trace, forest);
  collect_produced_elements(trace, forest);
  return forest;
}

}  // namespace doctor
