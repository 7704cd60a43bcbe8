#include "measure/call_times.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/parallel.h"
#include "measure/function_owners.h"
#include "measure/lane_order.h"
#include "measure/own_part.h"

namespace doctor {
namespace {

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

void add_ops(const Trace& trace, std::size_t lane, const FunctionOwners& owners, LaneTimes& times) {
  const ChunkedVector<OpCall>& ops = trace.lanes[lane].ops;
  for (std::size_t index = 0; index < ops.size(); ++index) {
    const IteratorId owner = owners.of_op(lane, index);
    if (owner != kNoIterator) times.ops[{owner, ops[index].type}].add(ops[index].span.duration());
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
                             const FunctionOwners& owners, const WorkOptions& work) {
  LaneTimes sums{std::vector<DurationHistogram>(forest.iterators.size()), {}};
  std::mutex mutex;
  const std::vector<const Lane*> lanes = largest_lanes_first(trace);
  run_parallel(threads_for(work, trace.iterator_event_count), lanes.size(), [&](std::size_t index) {
    LaneTimes times{std::vector<DurationHistogram>(forest.iterators.size()), {}};
    add_iterator_calls(*lanes[index], forest, waits, times);
    add_ops(trace, static_cast<std::size_t>(lanes[index] - trace.lanes.data()), owners, times);
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
