#include "trace/timeline/timeline_events.h"

#include <fmt/format.h>

#include <tuple>

#include "text/numbers.h"
#include "trace/chrome/chrome_threads.h"

namespace doctor {
namespace {

constexpr std::string_view kGetNextOp = "IteratorGetNext";

/// The executor begins a partition of a graph with the node of this name, once in a session run and in no function.
/// (tensorflow/core/graph/graph.cc, Graph::SOURCE_ID)
constexpr std::string_view kSourceNode = "_SOURCE";

/// 26 days from the first event that was read. Differences of such times are far from overflowing.
constexpr Picoseconds kFarthest = Picoseconds{1} << 61;

/// Sorts by `key_of` and leaves the first of what is equal.
template <typename Row, typename KeyOf>
void sort_and_unite(std::vector<Row>& rows, KeyOf key_of) {
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return key_of(a) < key_of(b); });
  rows.erase(std::unique(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return key_of(a) == key_of(b); }),
             rows.end());
}

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

const char* timeline_time_fault(Picoseconds start, Picoseconds duration) {
  if (duration < 0) return kNegativeDuration;
  const bool fits = start >= -kFarthest && start <= kFarthest && duration <= PackedSpan::kMaxDuration;
  return fits ? nullptr : kOutsideTimeRange;
}

TimelineReader::Arguments TimelineReader::decode(std::span<const JsonMember> members) {
  Arguments arguments;
  for (const JsonMember& member : members) {
    if (!member.is_string) continue;
    if (member.key == "name") arguments.name = unescape_json(member.value, name_text_);
    if (member.key == "op") arguments.op = unescape_json(member.value, op_text_);
  }
  return arguments;
}

void TimelineReader::take_metadata(const JsonEvent& event) {
  if (event.name != "process_name") return;
  std::vector<JsonMember> members;
  JsonMembers all(event.arguments);
  for (JsonMember member; all.next(member);) members.push_back(member);
  const std::string_view name = decode(members).name;
  process_names_[event.process] = name;
  if (std::optional<std::string> accelerator = accelerator_of(name)) events_.devices.push_back(std::move(*accelerator));
}

void TimelineReader::take(const ChromeEvent& event) {
  const Arguments arguments = decode(event.arguments);
  std::string_view name = event.name;
  const bool is_get_next = arguments.op == kGetNextOp || arguments.op == "IteratorGetNextV2";
  const bool is_unknown = event.name == "unknown" && !arguments.name.empty();
  if (arguments.name.starts_with("Iterator::") || (is_unknown && !is_get_next)) {
    name = arguments.name;
  } else if (is_get_next) {
    name = kGetNextOp;
  }
  if (const char* const fault = timeline_time_fault(event.start, event.duration)) return lose(fault, 1);
  const Interval interval{event.start, event.start + event.duration};
  if (!repeats_.is_repeat(event_token(event.name, arguments.name, event.start, event.duration))) ++time_count_;
  events_.spans.push_back(interval);
  if (arguments.name == kSourceNode) sources_.emplace_back(interval.start, event.process);
  const EventKind kind = classify_event(name);
  if (kind == EventKind::iterator) {
    events_.calls.push_back({interval, events_.strings.intern(name)});
  } else if (kind == EventKind::get_next) {
    (name == kGetNextOp ? events_.get_next_ops : events_.other_get_next).push_back(interval);
  } else if (kind == EventKind::op) {
    ops_.push_back({{interval, events_.strings.intern(name)}, event.process});
  } else if (kind == EventKind::other && !arguments.op.empty()) {
    const std::string node = fmt::format("{}:{}", arguments.name, arguments.op);
    nodes_.push_back({{interval, events_.strings.intern(node)}, event.process});
  }
}

/// Only now every process has its name.
void TimelineReader::end_file(const ByteSource& source) {
  if (const std::uint64_t repeated = repeats_.end_file(); repeated > 0) {
    loss_.notes.push_back(
        fmt::format("{}: {} in other files, too, and count once", source.name(), format_count(repeated, "event")));
  }
  for (const PlacedOp& placed : ops_) {
    if (!accelerator_of(process_names_[placed.process])) events_.ops.push_back(placed.op);
  }
  for (const PlacedOp& placed : nodes_) {
    if (!accelerator_of(process_names_[placed.process])) host_nodes_.push_back(placed.op);
  }
  for (const auto& [start, process] : sources_) {
    const std::string& name = process_names_[process];
    events_.partition_starts.push_back({start, name.empty() ? std::to_string(process) : name});
  }
  events_.event_count += time_count_;
  events_.loss.add(loss_);
}

Result<void> TimelineReader::read(ByteSource& source, const WorkOptions& work) {
  loss_ = {};
  time_count_ = 0;
  process_names_.clear();
  ops_.clear();
  nodes_.clear();
  sources_.clear();
  JsonReadOptions options;
  options.work = work;
  JsonEventReader reader(source, options);
  ChromeDecoder decoder(*this, origin_);
  while (const JsonEventBatch* batch = reader.next()) {
    for (const JsonEvent& event : batch->events) decoder.take(event, *batch);
    if (work.progress != nullptr) work.progress->event_count = decoder.phase_count();
  }
  decoder.finish();
  const JsonDocument& document = reader.document();
  if (auto error = reason_not_a_trace(document, source, decoder.phase_count(), decoder.other_count())) {
    return Unexpected(std::move(*error));
  }
  add_document_loss(document, source, time_count_, loss_);
  end_file(source);
  return {};
}

TimelineEvents TimelineReader::take_events() {
  events_.origin_ns = origin_.nanoseconds();
  // Beside iterators they would be taken for ops of their functions; most are of the model.
  if (events_.calls.empty()) events_.ops.insert(events_.ops.end(), host_nodes_.begin(), host_nodes_.end());
  const StringTable& strings = events_.strings;
  const auto by_span = [](Interval span) { return std::tuple(span.start, -span.end); };
  sort_and_unite(events_.get_next_ops, by_span);
  sort_and_unite(events_.other_get_next, by_span);
  sort_and_unite(events_.spans, by_span);
  sort_and_unite(events_.calls, [&](const TimelineCall& call) {
    return std::tuple(call.span.start, -call.span.end, strings[call.long_name]);
  });
  sort_and_unite(events_.ops,
                 [&](const TimelineOp& op) { return std::tuple(op.span.start, -op.span.end, strings[op.name]); });
  sort_and_unite(events_.partition_starts, [](const PartitionStart& first) {
    return std::tuple(first.start, std::string_view(first.partition));
  });
  sort_and_unite(events_.devices, [](const std::string& device) { return std::string_view(device); });
  return std::move(events_);
}

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
