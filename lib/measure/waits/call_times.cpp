#include "measure/waits/call_times.h"

#include <tuple>

#include "base/ranks.h"
#include "measure/functions/function_owners.h"
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

constexpr Picoseconds kStallFactor = 5;  // times the median. Chosen: usual calls differ by less
constexpr Picoseconds kShortestStall = kPicosecondsPerMillisecond;  // what is shorter costs a job nothing
constexpr std::size_t kFewestCallsWithStalls = 8;                   // fewer have no usual call

constexpr std::size_t kFewestRecurring = 3;       // two may be an accident
constexpr double kSmallestRecurringShare = 0.10;  // of the time waited: less hardly is the job's pace

constexpr std::size_t kFewestCallsOfPace = 5;  // on each side of a change: medians of fewer are moved by two calls
constexpr double kLargestProbability = 0.01;   // that calls without a change look like this. Chosen: one in a hundred
constexpr double kSmallestRatio = 1.5;         // of the two medians. Chosen: the clock of a CPU changes less
constexpr Picoseconds kSmallestDifference = 50 * kPicosecondsPerMicrosecond;  // a call that has to wait, see kSlowCall

std::vector<Picoseconds> latencies_of(std::span<const Interval> calls) {
  std::vector<Picoseconds> latencies;
  latencies.reserve(calls.size());
  for (const Interval call : calls) latencies.push_back(call.end - call.start);
  return latencies;
}

Picoseconds sum(std::span<const Picoseconds> values) {
  return std::accumulate(values.begin(), values.end(), Picoseconds{0});
}

double part(Picoseconds waited, Interval window) {
  const Picoseconds passed = std::max<Picoseconds>(window.end - window.start, 1);
  return std::min(1.0, static_cast<double>(waited) / static_cast<double>(passed));
}

/// Whether three quarters of the distances, of two or more, are within a quarter of the median, or one call off it.
bool has_steady_pace(std::span<const Picoseconds> distances, Picoseconds usual) {
  const Picoseconds tolerance = std::max<Picoseconds>(1, usual / 4);
  const auto alike = std::count_if(distances.begin(), distances.end(),
                                   [&](Picoseconds distance) { return std::abs(distance - usual) <= tolerance; });
  return distances.size() >= 2 && usual >= 2 && 4 * static_cast<std::size_t>(alike) >= 3 * distances.size();
}

/// Twice the rank of each value, 1-based; equal values share the mean of their ranks, so twice it is whole.
std::vector<std::int64_t> doubled_ranks(std::span<const Picoseconds> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<std::int64_t> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t position = first; position < end; ++position) {
      ranks[order[position]] = static_cast<std::int64_t>(first + end + 1);
    }
    first = end;
  }
  return ranks;
}

/// A place among the calls, and how far the ranks before it are from what chance would give: |U| of Pettitt.
struct ChangePoint {
  std::size_t from = 0;
  double statistic = 0;
};

ChangePoint strongest_change(std::span<const Picoseconds> latencies) {
  const std::vector<std::int64_t> ranks = doubled_ranks(latencies);
  const auto count = static_cast<std::int64_t>(ranks.size());
  ChangePoint strongest;
  std::int64_t rank_sum = 0;
  for (std::size_t index = 0; index < ranks.size(); ++index) {
    const bool is_inside = index >= kFewestCallsOfPace && index + kFewestCallsOfPace <= ranks.size();
    const auto statistic = std::abs(static_cast<double>(rank_sum - static_cast<std::int64_t>(index) * (count + 1)));
    if (is_inside && statistic > strongest.statistic) strongest = {index, statistic};
    rank_sum += ranks[index];
  }
  return strongest;
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
  const auto measure = [&](std::size_t lane) {
    LaneTimes times{std::vector<DurationHistogram>(forest.iterators.size()), {}, {}};
    add_iterator_calls(trace.lanes[lane], forest, waits, times);
    add_ops(trace, lane, owners, sample, times);
    return times;
  };
  add_up_lanes(trace, work, measure, [&](const LaneTimes& times) {
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

std::optional<Stalls> find_stalls(std::span<const Interval> calls, std::size_t warmup_count,
                                  std::span<const std::size_t> iteration_starts) {
  const std::span<const Interval> steady = calls.subspan(warmup_count);
  if (steady.size() < kFewestCallsWithStalls) return std::nullopt;
  const std::vector<Picoseconds> latencies = latencies_of(steady);
  const Picoseconds limit = std::max(kStallFactor * median(latencies), kShortestStall);
  std::vector<std::size_t> positions;
  std::vector<Picoseconds> stalled;
  std::vector<Picoseconds> others;
  for (std::size_t index = 0; index < latencies.size(); ++index) {
    const bool is_stall = latencies[index] > limit;
    (is_stall ? stalled : others).push_back(latencies[index]);
    if (is_stall) positions.push_back(index);
  }
  if (positions.size() < 2 || positions.size() > steady.size() / 3) return std::nullopt;
  std::vector<Picoseconds> distances;
  for (std::size_t index = 1; index < positions.size(); ++index) {
    distances.push_back(static_cast<Picoseconds>(positions[index] - positions[index - 1]));
  }
  Stalls stalls;
  stalls.count = positions.size();
  stalls.first = warmup_count + positions.front();
  stalls.last = warmup_count + positions.back();
  stalls.epoch_starts =
      static_cast<std::size_t>(std::count_if(positions.begin(), positions.end(), [&](std::size_t position) {
        const std::size_t call = warmup_count + position;
        return std::binary_search(iteration_starts.begin(), iteration_starts.end(), call) ||
               (call == 0 && !iteration_starts.empty());
      }));
  const Picoseconds usual_distance = median(distances);
  stalls.distance = static_cast<std::size_t>(usual_distance);
  stalls.is_regular =
      has_steady_pace(distances, usual_distance) && 3 * (positions.back() - positions.front()) >= steady.size();
  stalls.shortest = *std::min_element(stalled.begin(), stalled.end());
  stalls.longest = *std::max_element(stalled.begin(), stalled.end());
  stalls.typical = median(stalled);
  stalls.usual = median(others);
  stalls.waited = sum(stalled);
  stalls.share = part(stalls.waited, {steady.front().start, steady.back().end});
  const std::size_t middle = steady.size() / 2;
  stalls.are_recurring = positions.size() >= kFewestRecurring && positions.front() < middle &&
                         positions.back() >= middle && stalls.share >= kSmallestRecurringShare;
  return stalls;
}

std::optional<PaceChange> find_pace_change(std::span<const Interval> calls, std::size_t warmup_count) {
  const std::span<const Interval> steady = calls.subspan(warmup_count);
  if (steady.size() < 2 * kFewestCallsOfPace) return std::nullopt;
  const std::vector<Picoseconds> latencies = latencies_of(steady);
  const ChangePoint point = strongest_change(latencies);
  const auto count = static_cast<double>(steady.size());
  // Pettitt's approximation of the probability that chance alone gives such a statistic.
  const double probability =
      2 * std::exp(-6 * point.statistic * point.statistic / (count * count * count + count * count));
  if (point.from == 0 || probability > kLargestProbability) return std::nullopt;
  const std::span<const Picoseconds> first = std::span(latencies).first(point.from);
  const std::span<const Picoseconds> second = std::span(latencies).subspan(point.from);
  PaceChange change;
  change.from = warmup_count + point.from;
  change.before = median(first);
  change.after = median(second);
  const auto [shorter, longer] = std::minmax(change.before, change.after);
  const bool is_large = static_cast<double>(longer) >= kSmallestRatio * static_cast<double>(shorter) &&
                        longer - shorter >= kSmallestDifference;
  if (!is_large) return std::nullopt;
  change.share_before = part(sum(first), {steady.front().start, steady[point.from].start});
  change.share_after = part(sum(second), {steady[point.from].start, steady.back().end});
  return change;
}

}  // namespace doctor
