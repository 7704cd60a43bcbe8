#include "measure/pace.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/ranks.h"

namespace doctor {
namespace {

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
