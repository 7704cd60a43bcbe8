#include "measure/lane_order.h"
#include "measure/measure_passes.h"

namespace doctor {
namespace {

/// Of one iterator's functions on one thread.
struct ThreadWork {
  Picoseconds total = 0;
  Picoseconds done = 0;  ///< end of the ops so far: what begins before it is nested, and counts up to there once
};

using WorkOfLane = std::map<IteratorId, ThreadWork>;

WorkOfLane work_of(const Trace& trace, std::size_t lane, const FunctionOwners& owners, const std::vector<bool>& waits) {
  WorkOfLane result;
  const ChunkedVector<OpCall>& ops = trace.lanes[lane].ops;
  IteratorId last_owner = kNoIterator;
  ThreadWork* last = nullptr;
  for (std::size_t index = 0; index < ops.size(); ++index) {
    const IteratorId owner = owners.of_op(lane, index);
    if (owner == kNoIterator || !waits[index_of(owner)]) continue;
    const PackedSpan span = ops[index].span;
    if (owner != last_owner) last = &result.try_emplace(owner, ThreadWork{0, span.start()}).first->second;
    last_owner = owner;
    last->total += std::max<Picoseconds>(0, span.end() - std::max(span.start(), last->done));
    last->done = std::max(last->done, span.end());
  }
  return result;
}

/// Between programs that were dispatched before, XLA pauses for microseconds. Chosen: an evaluation, a checkpoint or
/// the next epoch takes longer to begin.
constexpr Picoseconds kLongestPause = 5 * kPicosecondsPerMillisecond;

}  // namespace

std::vector<Picoseconds> add_up_function_work(const Trace& trace, const FunctionOwners& owners,
                                              const std::vector<bool>& waits, const WorkOptions& work) {
  std::vector<Picoseconds> sums(waits.size(), 0);
  if (!owners.has_function_of(waits)) return sums;
  add_up_lanes(
      trace, work, [&](std::size_t lane) { return work_of(trace, lane, owners, waits); },
      [&](const WorkOfLane& of_lane) {
        for (const auto& [iterator, thread] : of_lane) sums[index_of(iterator)] += thread.total;
      });
  return sums;
}

Picoseconds work_after(std::span<const Interval> runs, Picoseconds time) {
  Picoseconds busy_until = time;
  for (const Interval run : runs) {
    if (run.end <= busy_until) continue;
    if (run.start > busy_until + kLongestPause) break;
    busy_until = run.end;
  }
  return busy_until - time;
}

}  // namespace doctor
