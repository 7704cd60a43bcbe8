#include "measure/waits/critical_path.h"

#include <unordered_set>

namespace doctor {
namespace {

bool is_wrapped_in_flat_map(const IteratorForest& forest, const LogicalIterator& iterator) {
  return iterator.parent != kNoIterator && forest[iterator.parent].is_sequential(Trait::flat_map);
}

/// Function ids of the executor spans and function runs that contain a Python op.
std::unordered_set<std::uint64_t> functions_with_python(const Trace& trace, const std::vector<OpKind>& op_kinds) {
  std::unordered_set<std::uint64_t> functions;
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.ops.size(); ++index) {
      const OpCall& op = lane.ops[index];
      const bool is_python = op_kinds[index_of(op.type)] == OpKind::python;
      if (op.function_id.value() != 0 && is_python) functions.insert(op.function_id.value());
    }
  }
  return functions;
}

}  // namespace

CriticalPath::CriticalPath(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds)
    : trace_(trace), forest_(forest) {
  const std::size_t count = forest.iterators.size();
  descendants_.resize(count);
  for (std::size_t index = 0; index < count; ++index) {
    const LogicalIterator& iterator = forest.iterators[index];
    if (iterator.top_calls.empty()) continue;
    for (IteratorId above = iterator.parent; above != kNoIterator; above = forest[above].parent) {
      if (forest[above].is_async) descendants_[index_of(above)].push_back(static_cast<IteratorId>(index));
    }
  }
  for (std::vector<IteratorId>& below : descendants_) {
    std::stable_sort(below.begin(), below.end(),
                     [&](IteratorId a, IteratorId b) { return forest[a].depth < forest[b].depth; });
  }
  find_device_hops(op_kinds);
  for (std::size_t index = 0; index < count; ++index) gap_kinds_.push_back(gap_kind_of(static_cast<IteratorId>(index)));
  Picoseconds latest = std::numeric_limits<Picoseconds>::min();
  for (const RootCall& call : forest.root_calls) {
    root_calls_latest_end_.push_back(latest = std::max(latest, call.span.end));
  }
  latest = std::numeric_limits<Picoseconds>::min();
  for (const CallRef call : forest.loose_root_calls) {
    loose_latest_end_.push_back(latest = std::max(latest, call_of(trace, call).span.end()));
  }
}

void CriticalPath::find_device_hops(const std::vector<OpKind>& op_kinds) {
  for (const LogicalIterator& iterator : forest_.iterators) {
    const bool is_generator = iterator.kind().source == Source::python;
    is_device_hop_.push_back(is_generator && !is_wrapped_in_flat_map(forest_, iterator));
  }
  if (std::find(is_device_hop_.begin(), is_device_hop_.end(), true) != is_device_hop_.end()) {
    const std::unordered_set<std::uint64_t> python = functions_with_python(trace_, op_kinds);
    for (const Lane& lane : trace_.lanes) {
      for (std::size_t run = 0; !python.empty() && run < lane.function_runs.size(); ++run) {
        const std::uint32_t row = lane.function_runs[run].row;
        if (row == kNoRow || !python.contains(lane.function_runs[run].function_id.value())) continue;
        is_device_hop_[index_of(forest_.iterator_of(lane.iterator_calls[row]))] = false;
      }
    }
  }
  has_device_hop_.assign(forest_.iterators.size(), false);
  for (std::size_t index = 0; index < forest_.iterators.size(); ++index) {
    if (is_device_hop_[index]) has_device_hop_[index_of(forest_.iterators[index].root)] = true;
  }
}

CriticalPath::GapKind CriticalPath::gap_kind_of(IteratorId id) const {
  const LogicalIterator& iterator = forest_[id];
  if (!iterator.is_async) return GapKind::own_work;
  const DatasetKind& kind = iterator.kind();
  if (kind.source == Source::service) return GapKind::data_service;
  if (kind.source == Source::python) return is_device_hop(id) ? GapKind::device_hop : GapKind::own_work;
  return kind.has(Trait::waits_for_function) ? GapKind::wait_for_function : GapKind::wait;
}

}  // namespace doctor
