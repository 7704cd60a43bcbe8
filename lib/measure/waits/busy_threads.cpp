#include "measure/waits/busy_threads.h"

#include "base/intervals.h"
#include "base/parallel.h"
#include "measure/lane_order.h"

namespace doctor {
namespace {

/// Adds up how much of the time between one moment and the next is covered by intervals.
class TimeBetween {
 public:
  explicit TimeBetween(std::span<const Picoseconds> moments)
      : moments_(moments), partly_(moments.size(), 0), wholly_(moments.size(), 0) {}

  /// `near` remembers where the last search ended.
  void add(Interval interval, std::size_t& near) {
    interval.start = std::max(interval.start, moments_.front());
    interval.end = std::min(interval.end, moments_.back());
    if (interval.start >= interval.end) return;
    // The interval lies between the first moment and the last one, so all that is found is in bounds.
    const Picoseconds* const moments = moments_.data();
    near = partition_point_near(moments_.size(), near, [&](std::size_t i) { return moments[i] <= interval.start; });
    const std::size_t first = near - 1;
    const std::size_t last =
        partition_point_near(moments_.size(), first, [&](std::size_t i) { return moments[i] < interval.end; }) - 1;
    Picoseconds* const partly = partly_.data();
    if (first == last) {
      partly[first] += interval.end - interval.start;
      return;
    }
    partly[first] += moments[first + 1] - interval.start;
    partly[last] += interval.end - moments[last];
    ++wholly_[first + 1];
    --wholly_[last];
  }

  void add(const TimeBetween& other) {
    for (std::size_t index = 0; index < partly_.size(); ++index) {
      partly_[index] += other.partly_[index];
      wholly_[index] += other.wholly_[index];
    }
  }

  /// What is covered until each moment; a thread or more may cover the same time.
  std::vector<Picoseconds> until() const {
    std::vector<Picoseconds> sums(moments_.size(), 0);
    Picoseconds count = 0;
    for (std::size_t index = 0; index + 1 < moments_.size(); ++index) {
      count += wholly_[index];
      sums[index + 1] = sums[index] + partly_[index] + count * (moments_[index + 1] - moments_[index]);
    }
    return sums;
  }

 private:
  std::span<const Picoseconds> moments_;
  std::vector<Picoseconds> partly_;  ///< indexed as the moments: from one to the next
  std::vector<Picoseconds> wholly_;  ///< by how much the number of intervals that cover that wholly changes here
};

/// Intervals in order of start, each moment once.
class Covered {
 public:
  explicit Covered(TimeBetween& times) : times_(times) {}

  void add(Interval interval) {
    interval.start = std::max(interval.start, until_);
    if (interval.start >= interval.end) return;
    until_ = interval.end;
    times_.add(interval, near_);
  }

 private:
  TimeBetween& times_;
  Picoseconds until_ = INT64_MIN;
  std::size_t near_ = 0;
};

/// What some of the threads did.
struct Activity {
  explicit Activity(std::span<const Picoseconds> moments, bool has_pools)
      : all(moments), in_events(has_pools ? moments : std::span<const Picoseconds>{}), of_pools(in_events) {}

  TimeBetween all;
  TimeBetween in_events;
  TimeBetween of_pools;
};

/// Adds the busy times of one thread in order of start.
class LaneActivity {
 public:
  LaneActivity(const Lane& lane, const std::vector<OpKind>& op_kinds, Activity& activity)
      : lane_(lane),
        op_kinds_(op_kinds),
        has_regions_(!lane.pool_regions.empty()),
        covered_(has_regions_ ? activity.of_pools : activity.all),
        events_(activity.in_events) {
    find_op();
    find_region();
  }

  void add_own_work(Interval work) {
    add_until(work.start);
    add_event(work);
  }

  /// Adds the ops and regions that start until `start`, in their common order.
  void add_until(Picoseconds start) {
    while (std::min(op_start_, region_start_) <= start) {
      if (op_start_ <= region_start_) {
        const PackedSpan span = lane_.ops[next_op_++].span;
        find_op();
        add_event({span.start(), span.end()});
      } else {
        const PackedSpan span = lane_.pool_regions[next_region_++];
        find_region();
        covered_.add({span.start(), span.end()});
      }
    }
  }

 private:
  static constexpr Picoseconds kNever = INT64_MAX;  // beyond every PackedSpan

  void add_event(Interval time) {
    covered_.add(time);
    if (has_regions_) events_.add(time);
  }
  bool is_work(const OpCall& op) const { return op_kinds_[index_of(op.type)] == OpKind::ordinary; }
  void find_op() {
    while (next_op_ < lane_.ops.size() && !is_work(lane_.ops[next_op_])) ++next_op_;
    op_start_ = next_op_ < lane_.ops.size() ? lane_.ops[next_op_].span.start() : kNever;
  }
  void find_region() {
    region_start_ = next_region_ < lane_.pool_regions.size() ? lane_.pool_regions[next_region_].start() : kNever;
  }

  const Lane& lane_;
  const std::vector<OpKind>& op_kinds_;
  const bool has_regions_;
  Covered covered_;
  Covered events_;  ///< ops and iterators; kept only where there are regions as well
  std::size_t next_op_ = 0;
  std::size_t next_region_ = 0;
  Picoseconds op_start_ = kNever;  ///< of the next one that is work
  Picoseconds region_start_ = kNever;
};

void add_lane(const Lane& lane, const IteratorForest& forest, const std::vector<OpKind>& op_kinds, Picoseconds until,
              Activity& sums) {
  LaneActivity activity(lane, op_kinds, sums);
  visit_sync_work(lane, forest, until, [&](Interval work) { activity.add_own_work(work); });
  activity.add_until(until);
}

}  // namespace

ThreadActivity::ThreadActivity(const Trace& trace, const IteratorForest& forest, const std::vector<OpKind>& op_kinds,
                               const WorkOptions& work)
    : queue_stride_(static_cast<double>(trace.queue.stride)) {
  moments_.reserve(2 * forest.root_calls.size());
  for (const RootCall& call : forest.root_calls) moments_.insert(moments_.end(), {call.span.start, call.span.end});
  std::sort(moments_.begin(), moments_.end());
  moments_.erase(std::unique(moments_.begin(), moments_.end()), moments_.end());
  if (moments_.size() < 2) return;
  const bool has_pools =
      std::any_of(trace.lanes.begin(), trace.lanes.end(), [](const Lane& lane) { return !lane.pool_regions.empty(); });
  // A lane at a time for each thread: as many sums as threads, not as lanes.
  const std::vector<std::size_t> lanes = largest_lanes_first(trace);
  const std::size_t threads =
      std::min<std::size_t>(threads_for(work, trace.iterator_event_count), std::max<std::size_t>(lanes.size(), 1));
  std::vector<Activity> sums(threads, Activity(moments_, has_pools));
  run_parallel(static_cast<unsigned>(threads), lanes.size(), [&](std::size_t lane, std::size_t worker) {
    add_lane(trace.lanes[lanes[lane]], forest, op_kinds, moments_.back(), sums[worker]);
  });
  for (std::size_t worker = 1; worker < threads; ++worker) {
    sums[0].all.add(sums[worker].all);
    sums[0].in_events.add(sums[worker].in_events);
    sums[0].of_pools.add(sums[worker].of_pools);
  }
  all_until_ = sums[0].all.until();
  if (has_pools) {
    in_events_until_ = sums[0].in_events.until();
    of_pools_until_ = sums[0].of_pools.until();
  }
  if (trace.queue.closures.empty()) return;
  std::vector<bool> is_of_compute_pool;  // indexed by LaneId
  for (const Lane& lane : trace.lanes) is_of_compute_pool.push_back(is_compute_pool(trace.strings[lane.name]));
  TimeBetween queued(moments_);
  std::size_t near = 0;
  for (const QueuedClosure& closure : trace.queue.closures) {
    if (!is_of_compute_pool[index_of(closure.lane)]) queued.add(closure.waited, near);
  }
  queued_until_ = queued.until();
}

Picoseconds ThreadActivity::sum(const std::vector<Picoseconds>& until, std::span<const Interval> waits) const {
  if (until.empty()) return 0;
  std::size_t place = 0;  // waits are in order, mostly one after the next
  const auto at = [&](Picoseconds moment) {
    place = partition_point_near(moments_.size(), place, [&](std::size_t index) { return moments_[index] < moment; });
    return until[place];
  };
  Picoseconds total = 0;
  for (const Interval wait : waits) {
    const Picoseconds before = at(wait.start);
    total += at(wait.end) - before;
  }
  return total;
}

BusyThreads ThreadActivity::during(std::span<const Interval> waits) const {
  const auto waited = static_cast<double>(total_length(waits));
  if (waited <= 0) return {};
  const Picoseconds of_pools = sum(of_pools_until_, waits);
  const Picoseconds in_pool_only = of_pools - sum(in_events_until_, waits);
  const Picoseconds all = sum(all_until_, waits) + of_pools;
  return {static_cast<double>(all) / waited, static_cast<double>(in_pool_only) / waited};
}

std::optional<double> ThreadActivity::queued_closures_during(std::span<const Interval> waits) const {
  const auto waited = static_cast<double>(total_length(waits));
  if (waited <= 0 || queued_until_.empty()) return std::nullopt;
  return queue_stride_ * static_cast<double>(sum(queued_until_, waits)) / waited;
}

}  // namespace doctor
