#include "measure/function_ops.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "measure/intervals.h"
#include "measure/op_kind.h"
#include "tree/dataset_kind.h"

namespace doctor {
namespace {

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
  ids.reserve(forest.produced.size());  // growing would need three times as much for a moment
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.produced.size(); ++index) {
      const ProducedElement& produced = lane.produced[index];
      if (produced.row == kNoRow || produced.last_run == kNoRow) continue;
      const IteratorId input = forest.iterator_of(lane.iterator_calls[produced.row]);
      if (forest[input].parent == iterator) ids.push_back(lane.function_runs[produced.last_run].function_id.value());
    }
  }
  return sorted(std::move(ids));
}

FunctionIds function_ids_of(const Trace& trace, const IteratorForest& forest, IteratorId iterator) {
  const LogicalIterator& node = forest[iterator];
  if (!node.is_async || is_generator(node.short_name)) {
    return collect_ids(trace, [&](const Lane& lane, const FunctionRun& run) {
      return run.row != kNoRow && forest.iterator_of(lane.iterator_calls[run.row]) == iterator;
    });
  }
  FunctionIds ids = ids_by_produced_element(trace, forest, iterator);
  if (!ids.empty()) return ids;
  return collect_ids(trace, [](const Lane&, const FunctionRun& run) { return run.row == kNoRow; });
}

}  // namespace

FunctionOps::FunctionOps(const Trace& trace, const IteratorForest& forest, IteratorId iterator)
    : trace_(trace), functions_(function_ids_of(trace, forest, iterator)), next_op_(trace.lanes.size(), 0) {}

void FunctionOps::collect_parts(std::size_t lane, std::span<const Interval> windows, std::vector<Part>& parts) {
  const ChunkedVector<OpCall>& ops = trace_.lanes[lane].ops;
  std::vector<Interval> inside;
  bool may_skip = true;
  for (std::size_t index = next_op_[lane]; index < ops.size(); ++index) {
    const OpCall& op = ops[index];
    if (op.span.start() >= windows.back().end) break;
    const bool is_wanted = std::binary_search(functions_.begin(), functions_.end(), op.function_id.value()) &&
                           !is_wrapper_op(trace_.strings[op.type]);
    // The first wanted op that reaches into the windows may reach into the next ones too.
    may_skip = may_skip && (!is_wanted || op.span.end() <= windows.front().start);
    if (may_skip) next_op_[lane] = index + 1;
    if (!is_wanted) continue;
    inside.clear();
    clip({op.span.start(), op.span.end()}, windows, inside);
    for (const Interval part : inside) parts.push_back({op.type, part});
  }
}

void FunctionOps::add(std::span<const Interval> windows) {
  if (windows.empty() || functions_.empty()) return;
  std::vector<Part> parts;
  for (std::size_t lane = 0; lane < trace_.lanes.size(); ++lane) collect_parts(lane, windows, parts);
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::tie(a.type, a.time.start) < std::tie(b.type, b.time.start);
  });
  // Each moment counts once for a type, however many threads ran it.
  for (std::size_t index = 0; index < parts.size();) {
    const StringId type = parts[index].type;
    Picoseconds done = std::numeric_limits<Picoseconds>::min();
    Picoseconds& total = totals_[type];
    for (; index < parts.size() && parts[index].type == type; ++index) {
      const Interval time = parts[index].time;
      total += std::max<Picoseconds>(0, time.end - std::max(time.start, done));
      done = std::max(done, time.end);
    }
  }
}

std::vector<FunctionOp> FunctionOps::totals() const {
  std::vector<FunctionOp> ops;
  for (const auto& [type, total] : totals_) {
    if (total > 0) ops.push_back({std::string(trace_.strings[type]), total});
  }
  std::sort(ops.begin(), ops.end(),
            [](const FunctionOp& a, const FunctionOp& b) { return a.self != b.self ? a.self > b.self : a.op < b.op; });
  return ops;
}

}  // namespace doctor
