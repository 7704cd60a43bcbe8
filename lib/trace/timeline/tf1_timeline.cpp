#include <queue>
#include <tuple>

#include "trace/event_kind.h"
#include "trace/format.h"
#include "trace/timeline/timeline_events.h"
#include "trace/trace_builder.h"

// Timelines of TF1 sessions: RunMetadata.step_stats as tensorflow/python/client/timeline.py draws them, one session.run
// a file or several merged into one list of events. Times are microseconds since 1970, truncated; iterators carry no
// ids.

namespace doctor {
namespace {

InstanceId instance_of(const TimelineCall& call, std::map<StringId, InstanceId>& ids, Trace& trace) {
  const auto [place, is_new] = ids.try_emplace(call.long_name, static_cast<InstanceId>(trace.instances.size()));
  if (is_new) {
    IteratorInstance& added = trace.instances.emplace_back();
    added.long_name = call.long_name;
    added.first_start = added.last_start = call.span.start;
  }
  IteratorInstance& instance = trace.instances[place->second];
  instance.first_start = std::min(instance.first_start, call.span.start);
  instance.last_start = std::max(instance.last_start, call.span.start);
  ++instance.event_count;
  return place->second;
}

/// Of GetNext spans those that lie in no other. The spans are sorted.
std::vector<TimelineSpan> outermost(const std::vector<Interval>& spans) {
  std::vector<TimelineSpan> outer;
  for (const Interval span : spans) {
    if (outer.empty() || span.end > outer.back().end()) outer.push_back({span.start, span.end - span.start, {}});
  }
  return outer;
}

/// Writes the calls into a lane, in pre-order.
class CallWriter {
 public:
  CallWriter(const TimelineEvents& events, const TimelineNesting& nesting, Trace& trace, Lane& lane)
      : calls_(events.calls), trace_(trace), lane_(lane), children_(events.calls.size()) {
    for (const std::uint32_t call : nesting.order) {
      if (nesting.parent[call] != kNoSpan) children_[nesting.parent[call]].push_back(call);
    }
  }

  void write(std::uint32_t root) {
    // Long names of hostile files are deeper than the stack of a thread.
    std::vector<Open> open;
    open.push_back({root, add_row(root), 0});
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next_child < children_[top.call].size()) {
        const std::uint32_t child = children_[top.call][top.next_child++];
        open.push_back({child, add_row(child), 0});
      } else {
        lane_.iterator_calls.close(top.row);
        open.pop_back();
      }
    }
  }

  std::uint32_t row_count() const { return static_cast<std::uint32_t>(lane_.iterator_calls.size()); }

 private:
  struct Open {
    std::uint32_t call;
    std::uint32_t row;
    std::size_t next_child;
  };

  std::uint32_t add_row(std::uint32_t index) {
    const TimelineCall& call = calls_[index];
    const std::uint32_t row = row_count();
    lane_.iterator_calls.push_back(PackedSpan(call.span.start, call.span.end - call.span.start),
                                   instance_of(call, instances_, trace_));
    return row;
  }

  const std::vector<TimelineCall>& calls_;
  Trace& trace_;
  Lane& lane_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::map<StringId, InstanceId> instances_;
};

/// One lane for all calls: GetNext ops with the calls in them, and the calls outside of any, by start.
void write_calls(const TimelineEvents& events, Trace& trace) {
  const bool has_op = !events.get_next_ops.empty();
  const std::vector<TimelineSpan> get_nexts = outermost(has_op ? events.get_next_ops : events.other_get_next);
  std::vector<TimelineSpan> calls;
  for (const TimelineCall& call : events.calls) {
    calls.push_back({call.span.start, call.span.end - call.span.start, trace.strings[call.long_name]});
  }
  // Iterators are drawn inside the op only, so nothing nests in other drawings of it.
  const TimelineNesting nesting = nest_timeline(calls, has_op ? get_nexts : std::vector<TimelineSpan>{});

  struct Unit {
    Picoseconds start = 0;
    std::uint32_t get_next = kNoSpan;
    std::vector<std::uint32_t> roots;
  };
  std::vector<Unit> units(get_nexts.size());
  for (std::uint32_t index = 0; index < get_nexts.size(); ++index) units[index] = {get_nexts[index].start, index, {}};
  for (const std::uint32_t call : nesting.order) {
    if (nesting.parent[call] != kNoSpan) continue;
    if (nesting.get_next[call] != kNoSpan) {
      units[nesting.get_next[call]].roots.push_back(call);
    } else {
      units.push_back({calls[call].start, kNoSpan, {call}});
    }
  }
  std::stable_sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) { return a.start < b.start; });

  Lane& lane = trace.lanes.emplace_back();
  CallWriter writer(events, nesting, trace, lane);
  for (const Unit& unit : units) {
    const std::uint32_t first_row = writer.row_count();
    for (const std::uint32_t root : unit.roots) writer.write(root);
    if (unit.get_next == kNoSpan) continue;
    const TimelineSpan& span = get_nexts[unit.get_next];
    lane.get_next_calls.push_back({PackedSpan(span.start, span.duration), first_row, writer.row_count()});
  }
  trace.iterator_event_count = events.calls.size();
}

/// Puts the ops into rows in which none overlaps another. The rows of the drawing mean nothing more, and are numbered
/// anew in each file.
void write_ops(const TimelineEvents& events, Trace& trace) {
  using FreeRow = std::pair<Picoseconds, std::size_t>;  // end of its last op, index of the lane
  std::priority_queue<FreeRow, std::vector<FreeRow>, std::greater<>> rows;
  for (const TimelineOp& op : events.ops) {
    std::size_t row = trace.lanes.size();
    if (!rows.empty() && rows.top().first <= op.span.start) {
      row = rows.top().second;
      rows.pop();
    } else {
      trace.lanes.emplace_back();
    }
    rows.emplace(op.span.end, row);
    const StringId type = trace.strings.intern(op_type_of(trace.strings[op.name]));
    trace.lanes[row].ops.push_back({PackedSpan(op.span.start, op.span.end - op.span.start), PackedToken{}, type});
  }
}

Interval window_of(const TimelineEvents& events) {
  Interval window{std::numeric_limits<Picoseconds>::max(), std::numeric_limits<Picoseconds>::min()};
  const auto widen = [&window](Interval span) {
    window.start = std::min(window.start, span.start);
    window.end = std::max(window.end, span.end);
  };
  for (const TimelineCall& call : events.calls) widen(call.span);
  for (const TimelineOp& op : events.ops) widen(op.span);
  for (const auto* spans : {&events.get_next_ops, &events.other_get_next}) {
    for (const Interval span : *spans) widen(span);
  }
  return window.start <= window.end ? window : Interval{};
}

/// All files given together are one host's: a session run each, or several.
class TimelineJoiner final : public TraceJoiner {
 public:
  Result<void> add(ByteSource& source, const WorkOptions& work) override {
    if (Result<void> read = reader_.read(source, work); !read) return read;
    files_.push_back({source.name(), "tf1_timeline", source.stored_size()});
    return {};
  }

  Trace finish() override {
    TimelineEvents events = reader_.take_events();
    Trace trace;
    trace.files = std::move(files_);
    trace.devices = std::move(events.devices);
    trace.event_count = events.event_count;
    trace.lanes_are_threads = false;
    fit_times(events);
    trace.origin_ns = events.origin_ns;
    trace.strings = std::move(events.strings);
    trace.window = window_of(events);
    trace.steps = session_runs_of(events);
    write_calls(events, trace);
    write_ops(events, trace);
    trace.loss = std::move(events.loss);
    doubt_calls(trace);
    return trace;
  }

 private:
  TimelineReader reader_;
  std::vector<TraceFile> files_;
};

}  // namespace

bool sniff_tf1_timeline(std::string_view head) {
  if (!sniff_chrome_json(head)) return false;
  // timeline.py names its processes "<device> Compute" and "<device> Tensors", and every device begins with a slash.
  for (const std::string_view ending : {std::string_view(" Compute\""), std::string_view(" Tensors\"")}) {
    for (std::size_t at = head.find(ending); at != std::string_view::npos; at = head.find(ending, at + 1)) {
      const std::size_t quote = head.rfind('"', at);
      if (quote != std::string_view::npos && head.substr(quote + 1).starts_with('/')) return true;
    }
  }
  return false;
}

std::unique_ptr<TraceJoiner> join_tf1_timelines() {
  return std::make_unique<TimelineJoiner>();
}

}  // namespace doctor
