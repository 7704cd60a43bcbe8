#include "measure/busy_threads.h"

#include <algorithm>
#include <atomic>

#include "base/intervals.h"
#include "base/parallel.h"
#include "measure/function_runs.h"
#include "measure/lane_order.h"
#include "measure/op_kind.h"

namespace doctor {
namespace {

/// Calls `visit(row, Interval)` for every piece of time of an iterator call outside of its nested calls, in order of
/// start over the whole lane. Calls that start at `until` or later are left out.
template <typename Visit>
void visit_own_times(const ChunkedVector<IteratorCall>& calls, Picoseconds until, Visit visit) {
  struct Open {
    std::uint32_t row;
    Picoseconds done;
  };
  std::vector<Open> open;
  const auto close = [&] {
    const Open closed = open.back();
    open.pop_back();
    const Picoseconds end = calls[closed.row].span.end();
    visit(closed.row, Interval{closed.done, end});
    if (!open.empty()) open.back().done = std::max(open.back().done, std::max(closed.done, end));
  };
  for (std::uint32_t row = 0; row < calls.size(); ++row) {
    const Picoseconds start = calls[row].span.start();
    if (start >= until) break;
    while (!open.empty() && calls[open.back().row].subtree_end <= row) close();
    if (!open.empty()) {
      visit(open.back().row, Interval{open.back().done, start});
      open.back().done = std::max(open.back().done, start);
    }
    open.push_back({row, start});
  }
  while (!open.empty()) close();
}

/// Adds the busy times of one thread in order of start.
class LaneActivity {
 public:
  LaneActivity(const Lane& lane, const std::vector<OpKind>& op_kinds, std::span<const Interval> waits)
      : lane_(lane), op_kinds_(op_kinds), has_regions_(!lane.pool_regions.empty()), covered_(waits), events_(waits) {}

  void add_own_work(Interval work) {
    if (work.start >= work.end) return;
    add_until(work.start);
    add_event(work);
  }

  /// Adds the ops and regions that start until `start`, in their common order.
  void add_until(Picoseconds start) {
    while (true) {
      while (next_op_ < lane_.ops.size() && !is_work(lane_.ops[next_op_])) ++next_op_;
      const bool has_op = next_op_ < lane_.ops.size() && lane_.ops[next_op_].span.start() <= start;
      const bool has_region =
          next_region_ < lane_.pool_regions.size() && lane_.pool_regions[next_region_].start() <= start;
      if (!has_op && !has_region) return;
      const bool op_first =
          has_op && (!has_region || lane_.ops[next_op_].span.start() <= lane_.pool_regions[next_region_].start());
      if (op_first) {
        const PackedSpan span = lane_.ops[next_op_++].span;
        add_event({span.start(), span.end()});
      } else {
        const PackedSpan span = lane_.pool_regions[next_region_++];
        covered_.add({span.start(), span.end()});
      }
    }
  }

  Picoseconds total() const { return covered_.total(); }
  /// Of that: in regions of the compute pool only.
  Picoseconds in_pool_only() const { return has_regions_ ? covered_.total() - events_.total() : 0; }

 private:
  void add_event(Interval time) {
    covered_.add(time);
    if (has_regions_) events_.add(time);
  }
  bool is_work(const OpCall& op) const { return op_kinds_[index_of(op.type)] == OpKind::ordinary; }

  const Lane& lane_;
  const std::vector<OpKind>& op_kinds_;
  const bool has_regions_;
  CoveredTime covered_;
  CoveredTime events_;  ///< covered by ops and iterators; kept only where there are regions as well
  std::size_t next_op_ = 0;
  std::size_t next_region_ = 0;
};

/// Busy time of one thread.
struct BusyTime {
  Picoseconds all = 0;
  Picoseconds in_pool_only = 0;
};

BusyTime busy_time(const Lane& lane, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                   std::span<const Interval> waits) {
  LaneActivity activity(lane, op_kinds, waits);
  std::size_t next_run = 0;
  const Picoseconds until = waits.back().end;
  visit_own_times(lane.iterator_calls, until, [&](std::uint32_t row, Interval own) {
    if (own.start >= own.end || forest[forest.iterator_of(lane.iterator_calls[row])].is_async) return;
    Picoseconds done = own.start;
    visit_function_runs(lane, row, own, next_run, [&](Interval run) {
      activity.add_own_work({done, run.start});
      done = run.end;
    });
    activity.add_own_work({done, own.end});
  });
  activity.add_until(until);
  return {activity.total(), activity.in_pool_only()};
}

}  // namespace

BusyThreads average_busy_threads(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                                 std::span<const Interval> waits, const WorkOptions& work) {
  const Picoseconds waited = total_length(waits);
  if (waited <= 0) return {};
  std::atomic<Picoseconds> all = 0;
  std::atomic<Picoseconds> in_pool_only = 0;
  const std::vector<const Lane*> lanes = largest_lanes_first(trace);
  run_parallel(threads_for(work, trace.iterator_event_count), lanes.size(), [&](std::size_t index) {
    const BusyTime busy = busy_time(*lanes[index], forest, op_kinds, waits);
    all += busy.all;
    in_pool_only += busy.in_pool_only;
  });
  const auto per_wait = [&](Picoseconds time) { return static_cast<double>(time) / static_cast<double>(waited); };
  return {per_wait(all), per_wait(in_pool_only)};
}

std::optional<double> average_queued_closures(const Trace& trace, std::span<const Interval> waits) {
  const Picoseconds waited = total_length(waits);
  if (waited <= 0 || trace.queue.closures.empty()) return std::nullopt;
  double queued = 0;
  std::vector<Interval> parts;
  for (const QueuedClosure& closure : trace.queue.closures) {
    parts.clear();
    clip(closure.waited, waits, parts);
    if (parts.empty() || is_compute_pool(trace.strings[trace.lanes[index_of(closure.lane)].name])) continue;
    queued += static_cast<double>(total_length(parts));
  }
  return static_cast<double>(trace.queue.stride) * queued / static_cast<double>(waited);
}

}  // namespace doctor
