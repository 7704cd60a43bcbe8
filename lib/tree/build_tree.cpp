#include "base/merge.h"
#include "tree/iterator_forest.h"
#include "tree/tree_passes.h"

namespace doctor {
namespace {

IteratorId iterator_of(const Trace& trace, const IteratorForest& forest, CallRef ref) {
  return forest.iterator_of(call_of(trace, ref));
}

bool has_parent_id(const Trace& trace, CallRef ref) {
  return trace.instances[call_of(trace, ref).instance].parent_id.has_value();
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
  // A consumer has one thread as a rule, whose calls are in order already.
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

IteratorForest build_tree(const Trace& trace, const WorkOptions& work) {
  IteratorForest forest;
  build_logical_iterators(trace, forest);
  collect_outermost_calls(trace, forest, work);
  collect_root_calls(trace, forest);
  return forest;
}

std::optional<std::int64_t> number_attribute(const Trace& trace, const LogicalIterator& iterator,
                                             std::string_view name) {
  for (const Attribute& attribute : iterator.attributes) {
    if (attribute.is_number && trace.strings[attribute.name] == name) return attribute.number;
  }
  return std::nullopt;
}

}  // namespace doctor
