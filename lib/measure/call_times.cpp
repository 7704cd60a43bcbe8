#include "measure/call_times.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/parallel.h"
#include "measure/function_owners.h"
#include "measure/lane_order.h"
#include "measure/own_part.h"

namespace doctor {
namespace {

using OpKey = std::pair<IteratorId, StringId>;

/// One op in one run of a function.
struct OpInRun {
  IteratorId owner = kNoIterator;
  std::uint64_t function_id = 0;
  StringId type{};

  friend bool operator<(const OpInRun& a, const OpInRun& b) {
    return std::tie(a.owner, a.function_id, a.type) < std::tie(b.owner, b.function_id, b.type);
  }
};

struct LaneTimes {
  std::vector<DurationHistogram> self;
  std::map<OpKey, DurationHistogram> ops;
  std::vector<OpInRun> sampled;
};

/// Takes whole runs by a hash of their id, about so many ops of them: runs of one function are alike.
class RunSample {
 public:
  explicit RunSample(const Trace& trace) {
    constexpr std::uint64_t kMostOps = 1U << 18U;  // chosen: quantiles of as many hardly differ from those of all
    std::uint64_t ops = 0;
    for (const Lane& lane : trace.lanes) ops += lane.ops.size();
    while (ops / (mask_ + 1) > kMostOps) mask_ = 2 * mask_ + 1;
  }

  bool has(std::uint64_t function_id) const {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;  // multiplicative hashing: Knuth, TAOCP 3, 6.4
    return ((function_id * kGoldenRatio) >> 32U & mask_) == 0;
  }

 private:
  std::uint64_t mask_ = 0;
};

void add_iterator_calls(const Lane& lane, const IteratorForest& forest, const std::vector<bool>& waits,
                        LaneTimes& times) {
  const IteratorCalls& calls = lane.iterator_calls;
  for (std::uint32_t row = 0; row < calls.size(); ++row) {
    const std::size_t iterator = index_of(forest.iterator_of(calls[row]));
    if (!waits[iterator]) times.self[iterator].add(own_part(calls, row).time);
  }
}

void add_ops(const Trace& trace, std::size_t lane, const FunctionOwners& owners, const RunSample& sample,
             LaneTimes& times) {
  const ChunkedVector<OpCall>& ops = trace.lanes[lane].ops;
  for (std::size_t index = 0; index < ops.size(); ++index) {
    const IteratorId owner = owners.of_op(lane, index);
    if (owner == kNoIterator) continue;
    times.ops[{owner, ops[index].type}].add(ops[index].span.duration());
    const std::uint64_t id = ops[index].function_id.value();
    if (sample.has(id)) times.sampled.push_back({owner, id, ops[index].type});
  }
}

/// Of the calls of an op in each of the runs that have it; the others have none.
CallsPerRun calls_per_run(std::vector<std::uint64_t> calls, std::uint64_t runs) {
  std::sort(calls.begin(), calls.end());
  const std::uint64_t without = runs - calls.size();
  const auto at = [&](std::uint64_t rank) {
    return rank < without ? 0 : calls[static_cast<std::size_t>(rank - without)];
  };
  CallsPerRun result;
  result.runs = runs;
  result.low = at((runs - 1) / 4);
  result.high = at((3 * (runs - 1) + 3) / 4);
  for (const std::uint64_t count : calls) result.total += count;
  return result;
}

std::map<OpKey, CallsPerRun> count_calls_per_run(std::vector<OpInRun> ops) {
  std::sort(ops.begin(), ops.end());
  std::map<IteratorId, std::uint64_t> runs;
  std::map<OpKey, std::vector<std::uint64_t>> calls;
  for (std::size_t index = 0; index < ops.size(); ++index) {
    const bool is_same_run =
        index > 0 && ops[index - 1].owner == ops[index].owner && ops[index - 1].function_id == ops[index].function_id;
    if (!is_same_run) ++runs[ops[index].owner];
    std::vector<std::uint64_t>& of_op = calls[{ops[index].owner, ops[index].type}];
    if (is_same_run && ops[index - 1].type == ops[index].type) {
      ++of_op.back();
    } else {
      of_op.push_back(1);
    }
  }
  std::map<OpKey, CallsPerRun> result;
  for (auto& [key, counts] : calls) result[key] = calls_per_run(std::move(counts), runs[key.first]);
  return result;
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
  LaneTimes sums{std::vector<DurationHistogram>(forest.iterators.size()), {}, {}};
  const RunSample sample(trace);
  std::mutex mutex;
  const std::vector<const Lane*> lanes = largest_lanes_first(trace);
  run_parallel(threads_for(work, trace.iterator_event_count), lanes.size(), [&](std::size_t index) {
    LaneTimes times{std::vector<DurationHistogram>(forest.iterators.size()), {}, {}};
    add_iterator_calls(*lanes[index], forest, waits, times);
    add_ops(trace, static_cast<std::size_t>(lanes[index] - trace.lanes.data()), owners, sample, times);
    const std::lock_guard lock(mutex);
    for (std::size_t id = 0; id < sums.self.size(); ++id) sums.self[id].add(times.self[id]);
    for (const auto& [key, histogram] : times.ops) sums.ops[key].add(histogram);
    sums.sampled.insert(sums.sampled.end(), times.sampled.begin(), times.sampled.end());
  });
  CallTimes result;
  for (const DurationHistogram& histogram : sums.self) result.self.push_back(statistics_of(histogram));
  std::map<OpKey, CallsPerRun> per_run = count_calls_per_run(std::move(sums.sampled));
  std::map<std::pair<IteratorId, std::string_view>, OpKey> by_name;
  for (const auto& [key, histogram] : sums.ops) by_name[{key.first, trace.strings[key.second]}] = key;
  for (const auto& [name, key] : by_name) {
    result.function_ops.push_back({name.first, std::string(name.second), statistics_of(sums.ops[key]), per_run[key]});
  }
  return result;
}

}  // namespace doctor
