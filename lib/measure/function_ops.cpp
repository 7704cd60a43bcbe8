#include "measure/function_ops.h"

#include <algorithm>
#include <map>
#include <queue>
#include <vector>

#include "measure/intervals.h"
#include "measure/op_kind.h"
#include "tree/dataset_kind.h"

namespace doctor {
namespace {

/// Sorted: there is one for every call of a function, so a hash table would be the largest thing in memory.
using FunctionIds = std::vector<std::uint64_t>;

FunctionIds sorted(FunctionIds ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// Ids of the function runs that `is_wanted(lane, run)` picks.
template <typename Predicate>
FunctionIds collect_ids(const Trace& trace, Predicate is_wanted) {
  FunctionIds ids;
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.function_runs.size(); ++index) {
      const FunctionRun& run = lane.function_runs[index];
      if (run.function_id.value() != 0 && is_wanted(lane, run)) ids.push_back(run.function_id.value());
    }
  }
  return sorted(std::move(ids));
}

/// Ids of the runs dispatched while making elements of `iterator`.
FunctionIds ids_by_produced_element(const Trace& trace, const IteratorForest& forest, IteratorId iterator) {
  FunctionIds ids;
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.produced.size(); ++index) {
      const ProducedElement& produced = lane.produced[index];
      if (produced.row == kNoRow || produced.last_run == kNoRow) continue;
      const InstanceId instance = lane.iterator_calls[produced.row].instance;
      const IteratorId input = forest.iterator_of_instance[index_of(instance)];
      if (forest[input].parent == iterator) ids.push_back(lane.function_runs[produced.last_run].function_id.value());
    }
  }
  return sorted(std::move(ids));
}

FunctionIds function_ids_of(const Trace& trace, const IteratorForest& forest, IteratorId iterator) {
  const LogicalIterator& node = forest[iterator];
  if (!node.is_async || without_version(node.short_name) == "Generator") {
    return collect_ids(trace, [&](const Lane& lane, const FunctionRun& run) {
      return run.row != kNoRow &&
             forest.iterator_of_instance[index_of(lane.iterator_calls[run.row].instance)] == iterator;
    });
  }
  FunctionIds ids = ids_by_produced_element(trace, forest, iterator);
  if (!ids.empty()) return ids;
  return collect_ids(trace, [](const Lane&, const FunctionRun& run) { return run.row == kNoRow; });
}

/// Calls `visit` for every op of all threads in order of start.
template <typename Visit>
void visit_ops_by_start(const Trace& trace, Visit visit) {
  struct Next {
    Picoseconds start;
    std::size_t lane;
    std::size_t op;
    bool operator<(const Next& other) const { return start > other.start; }  // a heap has its greatest on top
  };
  std::priority_queue<Next> queue;
  const auto push = [&](std::size_t lane, std::size_t op) {
    const ChunkedVector<OpCall>& ops = trace.lanes[lane].ops;
    if (op < ops.size()) queue.push({ops[op].span.start(), lane, op});
  };
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) push(lane, 0);
  while (!queue.empty()) {
    const Next next = queue.top();
    queue.pop();
    visit(trace.lanes[next.lane].ops[next.op]);
    push(next.lane, next.op + 1);
  }
}

}  // namespace

std::vector<FunctionOp> measure_function_ops(const Trace& trace, const IteratorForest& forest, IteratorId iterator,
                                             std::span<const Interval> windows) {
  const FunctionIds ids = function_ids_of(trace, forest, iterator);
  std::map<StringId, CoveredTime> times;
  if (!ids.empty()) {
    visit_ops_by_start(trace, [&](const OpCall& op) {
      if (!std::binary_search(ids.begin(), ids.end(), op.function_id.value())) return;
      times.try_emplace(op.type, windows).first->second.add({op.span.start(), op.span.end()});
    });
  }
  std::vector<FunctionOp> ops;
  for (const auto& [type, covered] : times) {
    const std::string_view name = trace.strings[type];
    if (covered.total() > 0 && !is_wrapper_op(name)) ops.push_back({std::string(name), covered.total()});
  }
  std::sort(ops.begin(), ops.end(),
            [](const FunctionOp& a, const FunctionOp& b) { return a.self != b.self ? a.self > b.self : a.op < b.op; });
  return ops;
}

}  // namespace doctor
