#include "measure/call_times.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "base/parallel.h"
#include "measure/function_ids.h"
#include "measure/lane_order.h"
#include "measure/own_part.h"
#include "tree/dataset_kind.h"

namespace doctor {
namespace {

/// The functions of each iterator that runs some.
struct IteratorFunctions {
  IteratorId iterator = kNoIterator;
  FunctionIds ids;
};

/// Whether an asynchronous iterator of this kind calls a function for its elements. The others only hand elements on.
bool calls_function(std::string_view short_name) {
  const std::string_view kind = without_version(short_name);
  return kind != "Prefetch" && kind != "ParallelBatch" && is_asynchronous(short_name);
}

std::vector<IteratorFunctions> find_functions(const Trace& trace, const IteratorForest& forest) {
  // Collecting ids takes a pass over all runs, so iterators that run nothing are sorted out first.
  std::vector<bool> runs_functions(forest.iterators.size());
  bool has_loose_runs = false;
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.function_runs.size(); ++index) {
      const std::uint32_t row = lane.function_runs[index].row;
      if (row == kNoRow) has_loose_runs = true;
      if (row != kNoRow) runs_functions[index_of(forest.iterator_of(lane.iterator_calls[row]))] = true;
    }
  }
  std::vector<bool> is_told(forest.iterators.size());
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < lane.produced.size(); ++index) {
      const ProducedElement& produced = lane.produced[index];
      if (produced.row == kNoRow || produced.last_run == kNoRow) continue;
      const IteratorId maker = forest[forest.iterator_of(lane.iterator_calls[produced.row])].parent;
      if (maker != kNoIterator) is_told[index_of(maker)] = true;
    }
  }
  std::vector<IteratorFunctions> functions;
  for (std::size_t index = 0; index < forest.iterators.size(); ++index) {
    const auto iterator = static_cast<IteratorId>(index);
    if (!runs_functions[index] && !(has_loose_runs && calls_function(forest[iterator].short_name))) continue;
    FunctionIds ids(trace, forest, iterator);
    if (!ids.empty()) functions.push_back({iterator, std::move(ids)});
  }
  // The first one that has a function's id gets its ops. An iterator that is told by no element has the ids of all
  // loose runs: so those that are told come before it. Of several that are not told none is better than another; by
  // name it is the same one in every recording, which the order of ids, that of appearance, is not.
  const auto key = [&](const IteratorFunctions& one) {
    const LogicalIterator& iterator = forest[one.iterator];
    return std::pair<bool, std::string_view>(iterator.is_async && !is_told[index_of(one.iterator)], iterator.long_name);
  };
  std::stable_sort(functions.begin(), functions.end(),
                   [&](const IteratorFunctions& a, const IteratorFunctions& b) { return key(a) < key(b); });
  return functions;
}

using OpKey = std::pair<IteratorId, StringId>;

struct LaneTimes {
  std::vector<DurationHistogram> self;
  std::map<OpKey, DurationHistogram> ops;
};

void add_iterator_calls(const Lane& lane, const IteratorForest& forest, const std::vector<bool>& waits,
                        LaneTimes& times) {
  const ChunkedVector<IteratorCall>& calls = lane.iterator_calls;
  for (std::uint32_t row = 0; row < calls.size(); ++row) {
    const std::size_t iterator = index_of(forest.iterator_of(calls[row]));
    if (!waits[iterator]) times.self[iterator].add(own_part(calls, row).time);
  }
}

void add_ops(const Lane& lane, const std::vector<IteratorFunctions>& functions, const std::vector<OpKind>& op_kinds,
             LaneTimes& times) {
  for (std::size_t index = 0; index < lane.ops.size(); ++index) {
    const OpCall& op = lane.ops[index];
    const std::uint64_t id = op.function_id.value();
    if (id == 0 || op_kinds[index_of(op.type)] == OpKind::wrapper) continue;
    for (const IteratorFunctions& function : functions) {
      if (!function.ids.contains(id)) continue;
      times.ops[{function.iterator, op.type}].add(op.span.duration());
      break;
    }
  }
}

}  // namespace

DurationStatistics statistics_of(const DurationHistogram& histogram) {
  DurationStatistics statistics;
  statistics.count = histogram.count();
  statistics.total = histogram.total();
  statistics.p25 = histogram.quantile(0.25);
  statistics.median = histogram.quantile(0.5);
  statistics.p90 = histogram.quantile(0.9);
  statistics.p99 = histogram.quantile(0.99);
  statistics.tail = histogram.total_from(std::max(kTailFactor * statistics.p25, statistics.p25 + kTailExcess));
  return statistics;
}

CallTimes measure_call_times(const Trace& trace, const IteratorForest& forest, const std::vector<bool>& waits,
                             const std::vector<OpKind>& op_kinds, const WorkOptions& work) {
  const std::vector<IteratorFunctions> functions = find_functions(trace, forest);
  LaneTimes sums{std::vector<DurationHistogram>(forest.iterators.size()), {}};
  std::mutex mutex;
  const std::vector<const Lane*> lanes = largest_lanes_first(trace);
  run_parallel(threads_for(work, trace.iterator_event_count), lanes.size(), [&](std::size_t index) {
    LaneTimes times{std::vector<DurationHistogram>(forest.iterators.size()), {}};
    add_iterator_calls(*lanes[index], forest, waits, times);
    add_ops(*lanes[index], functions, op_kinds, times);
    const std::lock_guard lock(mutex);
    for (std::size_t id = 0; id < sums.self.size(); ++id) sums.self[id].add(times.self[id]);
    for (const auto& [key, histogram] : times.ops) sums.ops[key].add(histogram);
  });
  CallTimes result;
  for (const DurationHistogram& histogram : sums.self) result.self.push_back(statistics_of(histogram));
  std::map<std::pair<IteratorId, std::string_view>, const DurationHistogram*> by_name;
  for (const auto& [key, histogram] : sums.ops) by_name[{key.first, trace.strings[key.second]}] = &histogram;
  for (const auto& [key, histogram] : by_name) {
    result.function_ops.push_back({key.first, std::string(key.second), statistics_of(*histogram)});
  }
  return result;
}

}  // namespace doctor
