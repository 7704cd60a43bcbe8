#include "measure/function_ops.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/intervals.h"

namespace doctor {

FunctionOps::FunctionOps(const Trace& trace, const std::vector<OpKind>& op_kinds, const FunctionIds& functions)
    : op_kinds_(op_kinds), functions_(functions) {
  for (const Lane& lane : trace.lanes) {
    if (!lane.ops.empty()) lanes_.push_back({&lane.ops, 0});
  }
}

void FunctionOps::collect_parts(LaneOps& lane, std::span<const Interval> windows) {
  bool may_skip = true;
  for (std::size_t index = lane.next; index < lane.ops->size(); ++index) {
    const OpCall& op = (*lane.ops)[index];
    const Interval time{op.span.start(), op.span.end()};
    if (time.start >= windows.back().end) break;
    const bool is_wanted = time.end > windows.front().start && op_kinds_[index_of(op.type)] != OpKind::wrapper &&
                           functions_.contains(op.function_id.value());
    // The first wanted op that reaches into the windows may reach into the next ones too.
    may_skip = may_skip && !is_wanted;
    if (may_skip) lane.next = index + 1;
    if (!is_wanted) continue;
    clipped_.clear();
    clip(time, windows, clipped_);
    for (const Interval part : clipped_) parts_.push_back({op.type, part});
  }
}

void FunctionOps::add(std::span<const Interval> windows) {
  if (windows.empty() || functions_.empty()) return;
  parts_.clear();
  for (LaneOps& lane : lanes_) collect_parts(lane, windows);
  std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
    return std::tie(a.type, a.time.start) < std::tie(b.type, b.time.start);
  });
  // Each moment counts once for a type, however many threads ran it.
  for (std::size_t index = 0; index < parts_.size();) {
    const StringId type = parts_[index].type;
    Picoseconds done = std::numeric_limits<Picoseconds>::min();
    Picoseconds& total = totals_[type];
    for (; index < parts_.size() && parts_[index].type == type; ++index) {
      const Interval time = parts_[index].time;
      total += std::max<Picoseconds>(0, time.end - std::max(time.start, done));
      done = std::max(done, time.end);
    }
  }
}

}  // namespace doctor
