#include "measure/function_ops.h"

#include <algorithm>
#include <map>
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

}  // namespace

std::vector<FunctionOp> measure_function_ops(const Trace& trace, const IteratorForest& forest, IteratorId iterator,
                                             std::span<const Interval> windows) {
  const FunctionIds ids = function_ids_of(trace, forest, iterator);
  std::map<StringId, std::vector<Interval>> times;
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; !ids.empty() && index < lane.ops.size(); ++index) {
      const OpCall& op = lane.ops[index];
      if (!std::binary_search(ids.begin(), ids.end(), op.function_id.value()) || is_wrapper_op(trace.strings[op.type]))
        continue;
      clip({op.span.start(), op.span.end()}, windows, times[op.type]);
    }
  }
  std::vector<FunctionOp> ops;
  for (auto& [type, parts] : times) {
    const Picoseconds total = total_length(united(std::move(parts)));
    if (total > 0) ops.push_back({std::string(trace.strings[type]), total});
  }
  std::sort(ops.begin(), ops.end(),
            [](const FunctionOp& a, const FunctionOp& b) { return a.self != b.self ? a.self > b.self : a.op < b.op; });
  return ops;
}

}  // namespace doctor
