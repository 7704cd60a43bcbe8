#include "trace/timeline/timeline_runs.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <string_view>

namespace doctor {
namespace {

constexpr Picoseconds kShortPause = kPicosecondsPerSecond;

/// From `since` on, times move by `shift`.
struct Move {
  Picoseconds since = 0;
  Picoseconds shift = 0;
};

/// The moves that put the first event at 0 and, with `cuts_pauses`, leave no pause longer than kShortPause.
std::vector<Move> moves_for(const std::vector<Interval>& spans, bool cuts_pauses) {
  std::vector<Move> moves = {{spans.front().start, -spans.front().start}};
  Picoseconds end = spans.front().end;
  for (const Interval span : spans) {
    if (cuts_pauses && span.start - end > kShortPause) {
      moves.push_back({span.start, moves.back().shift - (span.start - end - kShortPause)});
    }
    end = std::max(end, span.end);
  }
  return moves;
}

Picoseconds shift_at(const std::vector<Move>& moves, Picoseconds time) {
  const auto after =
      std::partition_point(moves.begin() + 1, moves.end(), [&](const Move& move) { return move.since <= time; });
  return (after - 1)->shift;
}

bool fits(Picoseconds start) {
  return start <= PackedSpan::kMaxStart;
}

}  // namespace

std::vector<StepMarker> session_runs_of(const TimelineEvents& events) {
  std::vector<StepMarker> runs;
  std::set<std::string_view> partitions;
  for (const PartitionStart& first : events.partition_starts) {
    const bool is_known = !partitions.insert(first.partition).second;
    if (!is_known && !runs.empty()) continue;
    if (is_known) partitions = {first.partition};
    runs.push_back({first.start, 0, static_cast<std::int64_t>(runs.size())});
  }
  std::size_t run = 0;
  for (const Interval span : events.spans) {
    if (runs.empty() || span.start < runs.front().start) continue;
    while (run + 1 < runs.size() && runs[run + 1].start <= span.start) ++run;
    const Picoseconds limit = run + 1 < runs.size() ? runs[run + 1].start : std::numeric_limits<Picoseconds>::max();
    runs[run].duration = std::max(runs[run].duration, std::min(span.end, limit) - runs[run].start);
  }
  return runs;
}

void fit_times(TimelineEvents& events) {
  if (events.spans.empty()) return;
  const bool is_short = fits(events.spans.back().start - events.spans.front().start);
  const std::vector<Move> moves = moves_for(events.spans, !is_short);
  events.origin_ns += events.spans.front().start / kPicosecondsPerNanosecond;
  const auto move = [&](Interval& span) {
    const Picoseconds shift = shift_at(moves, span.start);
    span = {span.start + shift, span.end + shift};
    return !fits(span.start);
  };
  const std::size_t lost = std::erase_if(events.spans, move);
  if (lost > 0) events.loss.add(kOutsideTimeRange, lost);
  std::erase_if(events.get_next_ops, move);
  std::erase_if(events.other_get_next, move);
  std::erase_if(events.calls, [&](TimelineCall& call) { return move(call.span); });
  std::erase_if(events.ops, [&](TimelineOp& op) { return move(op.span); });
  for (PartitionStart& first : events.partition_starts) first.start += shift_at(moves, first.start);
  std::erase_if(events.partition_starts, [](const PartitionStart& first) { return !fits(first.start); });
}

}  // namespace doctor
