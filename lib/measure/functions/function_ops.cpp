#include "base/intervals.h"
#include "base/merge.h"
#include "measure/measure_passes.h"

namespace doctor {
namespace {

template <typename Key>
void add_all(std::map<Key, Picoseconds>& sums, const std::map<Key, Picoseconds>& more) {
  for (const auto& [key, time] : more) sums[key] += time;
}

/// Calls `add(op, time)` for each op of the parts with the time that these cover, each moment once.
template <typename Part, typename Add>
void sum_by_op(std::vector<Part>& parts, Add add) {
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return std::pair(a.op, a.time.start) < std::pair(b.op, b.time.start); });
  for (std::size_t index = 0; index < parts.size();) {
    const auto op = parts[index].op;
    Picoseconds done = std::numeric_limits<Picoseconds>::min();
    Picoseconds total = 0;
    for (; index < parts.size() && parts[index].op == op; ++index) {
      const Interval time = parts[index].time;
      total += std::max<Picoseconds>(0, time.end - std::max(time.start, done));
      done = std::max(done, time.end);
    }
    add(op, total);
  }
}

}  // namespace

void FunctionActivity::add(const FunctionActivity& other) {
  add_all(ops, other.ops);
  add_all(beside, other.beside);
  idle += other.idle;
}

FunctionOps::FunctionOps(const Trace& trace, const std::vector<OpKind>& op_kinds, const FunctionOwners& owners,
                         IteratorId iterator, Picoseconds from)
    : op_kinds_(op_kinds), owners_(owners), iterator_(iterator) {
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    const ChunkedVector<OpCall>& ops = trace.lanes[lane].ops;
    const std::size_t first = owners.first_op_reaching(lane, ops, from);
    if (first < ops.size()) lanes_.push_back({lane, &ops, first, {}});
  }
}

void FunctionOps::collect_part(const LaneOps& lane, std::size_t index, std::span<const Interval> windows) {
  const OpCall& op = (*lane.ops)[index];
  const Interval time{op.span.start(), op.span.end()};
  if (time.end <= windows.front().start || op_kinds_[index_of(op.type)] == OpKind::wrapper) return;
  const IteratorId owner = owners_.of_op(lane.lane, index);
  if (owner != iterator_) return others_.push_back({{owner, op.type}, time});
  clipped_.clear();
  clip(time, windows, clipped_);
  for (const Interval part : clipped_) parts_.push_back({{owner, op.type}, part});
}

/// Every op is met once, and again only while it lasts longer than the windows.
void FunctionOps::collect_parts(LaneOps& lane, std::span<const Interval> windows) {
  const auto ends_before = [&](std::size_t op, Picoseconds time) { return (*lane.ops)[op].span.end() <= time; };
  for (const std::size_t op : lane.ongoing) collect_part(lane, op, windows);
  std::erase_if(lane.ongoing, [&](std::size_t op) { return ends_before(op, windows.back().end); });
  for (; lane.next < lane.ops->size(); ++lane.next) {
    if ((*lane.ops)[lane.next].span.start() >= windows.back().end) break;
    collect_part(lane, lane.next, windows);
    if (!ends_before(lane.next, windows.back().end)) lane.ongoing.push_back(lane.next);
  }
}

/// The time in which no op of the function ran, and which others did then.
void FunctionOps::add_idle_time(std::span<const Interval> windows) {
  sort_unless_sorted(parts_, [](const Part& a, const Part& b) { return a.time.start < b.time.start; });
  idle_.clear();
  auto part = parts_.begin();
  for (const Interval window : windows) {
    Picoseconds active_until = window.start;
    for (; part != parts_.end() && part->time.start < window.end; ++part) {
      if (part->time.start > active_until) idle_.push_back({active_until, part->time.start});
      active_until = std::max(active_until, part->time.end);
    }
    if (active_until < window.end) idle_.push_back({active_until, window.end});
  }
  activity_.idle += total_length(idle_);
  if (idle_.empty()) return;
  parts_.clear();
  for (const Part& other : others_) {
    clipped_.clear();
    clip(other.time, idle_, clipped_);
    for (const Interval piece : clipped_) parts_.push_back({other.op, piece});
  }
  sum_by_op(parts_, [&](FunctionActivity::OpOf op, Picoseconds time) { activity_.beside[op] += time; });
}

void FunctionOps::add(std::span<const Interval> windows) {
  if (windows.empty()) return;
  parts_.clear();
  others_.clear();
  for (LaneOps& lane : lanes_) collect_parts(lane, windows);
  sum_by_op(parts_, [&](FunctionActivity::OpOf op, Picoseconds time) { activity_.ops[op.second] += time; });
  add_idle_time(windows);
}

}  // namespace doctor
