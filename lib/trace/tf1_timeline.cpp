#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/chrome_document.h"
#include "trace/chrome_threads.h"
#include "trace/event_kind.h"
#include "trace/format.h"
#include "trace/json_events.h"
#include "trace/json_text.h"
#include "trace/timeline_nesting.h"

// Timelines of TF1 sessions: RunMetadata.step_stats as tensorflow/python/client/timeline.py draws them, one session.run
// or several merged into one list of events. Times are microseconds since 1970, truncated; iterators carry no ids.

namespace doctor {
namespace {

constexpr std::string_view kGetNextOp = "IteratorGetNext";

struct ThreadKey {
  std::uint64_t process = 0;
  std::uint64_t thread = 0;

  friend bool operator<(const ThreadKey& a, const ThreadKey& b) {
    return std::tie(a.process, a.thread) < std::tie(b.process, b.thread);
  }
};

struct IteratorSpan {
  Picoseconds start = 0;
  Picoseconds duration = 0;
  StringId long_name{};
};

struct OpSpan {
  Picoseconds start = 0;
  Picoseconds duration = 0;
  StringId type{};
  ThreadKey place;
};

/// What a timeline tells, event by event; times in picoseconds since its first event.
struct Timeline {
  Trace trace;
  TimeOrigin origin;
  std::vector<IteratorSpan> calls;
  std::vector<TimelineSpan> get_next_ops;    ///< drawn from the op's node: iterators are nested in these
  std::vector<TimelineSpan> other_get_next;  ///< other drawings of the same calls
  std::vector<OpSpan> ops;
  std::set<std::uint64_t> accelerators;  ///< processes
  std::uint64_t event_count = 0;         ///< with a phase
  std::uint64_t other_count = 0;
  StringTable seen_names;
  std::set<std::tuple<Picoseconds, Picoseconds, StringId, StringId, StringId>> seen;
};

struct TimelineArguments {
  std::string_view name;
  std::string_view op;
};

TimelineArguments decode(std::span<const JsonMember> members, std::string& name_text, std::string& op_text) {
  TimelineArguments arguments;
  for (const JsonMember& member : members) {
    if (!member.is_string) continue;
    if (member.key == "name") arguments.name = unescape_json(member.value, name_text);
    if (member.key == "op") arguments.op = unescape_json(member.value, op_text);
  }
  return arguments;
}

void take_process_name(const JsonEvent& event, std::string_view name, Timeline& timeline) {
  const std::optional<std::string> accelerator = accelerator_of(name);
  if (!accelerator) return;
  timeline.accelerators.insert(event.process);
  std::vector<std::string>& devices = timeline.trace.devices;
  if (std::find(devices.begin(), devices.end(), *accelerator) == devices.end()) devices.push_back(*accelerator);
}

/// The event's times, if they can be used; counts why not.
std::optional<Interval> interval_of(const JsonEvent& event, Timeline& timeline) {
  Loss& loss = timeline.trace.loss;
  const auto refuse = [&loss](const char* reason) {
    loss.add(reason);
    return std::optional<Interval>{};
  };
  if (event.start_text == NumberText::missing) return refuse("events_without_time");
  if (event.duration_text == NumberText::missing) return refuse("events_without_duration");
  if (event.start_text == NumberText::malformed || event.duration_text == NumberText::malformed) {
    return refuse("events_malformed");
  }
  if (event.start_text != NumberText::valid || event.duration_text != NumberText::valid) {
    return refuse("events_outside_time_range");
  }
  const std::optional<Picoseconds> start = timeline.origin.since(event.start);
  const std::optional<Picoseconds> duration = to_picoseconds(event.duration, 0);
  if (duration && *duration < 0) return refuse("events_negative_duration");
  if (!start || !duration || *start < PackedSpan::kMinStart || *start > PackedSpan::kMaxStart ||
      *duration > PackedSpan::kMaxDuration) {
    return refuse("events_outside_time_range");
  }
  return Interval{*start, *start + *duration};
}

void take_span(const JsonEvent& event, std::span<const JsonMember> members, Timeline& timeline) {
  std::string name_text;
  std::string op_text;
  const TimelineArguments arguments = decode(members, name_text, op_text);
  std::string_view name = event.name;
  const bool is_get_next = arguments.op == kGetNextOp || arguments.op == "IteratorGetNextV2";
  const bool is_unknown = event.name == "unknown" && !arguments.name.empty();
  if (arguments.name.starts_with("Iterator::") || (is_unknown && !is_get_next)) {
    name = arguments.name;
  } else if (is_get_next) {
    name = kGetNextOp;
  }
  const std::optional<Interval> interval = interval_of(event, timeline);
  if (!interval) return;
  ++timeline.trace.event_count;
  const EventKind kind = classify_event(name);
  if (kind != EventKind::iterator && kind != EventKind::get_next && kind != EventKind::op) return;

  // Old profilers record the same span for several devices, and merged timelines repeat whole steps.
  StringTable& names = timeline.seen_names;
  const Picoseconds duration = interval->end - interval->start;
  const bool is_new = timeline.seen
                          .emplace(interval->start, duration, names.intern(event.name), names.intern(arguments.name),
                                   names.intern(arguments.op))
                          .second;
  if (!is_new) return;
  StringTable& strings = timeline.trace.strings;
  if (kind == EventKind::iterator) {
    timeline.calls.push_back({interval->start, duration, strings.intern(name)});
  } else if (kind == EventKind::get_next) {
    (name == kGetNextOp ? timeline.get_next_ops : timeline.other_get_next).push_back({interval->start, duration, {}});
  } else {
    const ThreadKey place{event.process, event.thread};
    timeline.ops.push_back({interval->start, duration, strings.intern(op_type_of(name)), place});
  }
}

void take(const JsonEvent& event, std::span<const JsonMember> members, Timeline& timeline) {
  if (event.phase == '\0') {
    ++timeline.other_count;
    return timeline.trace.loss.add("events_without_phase");
  }
  ++timeline.event_count;
  if (event.phase == 'X') take_span(event, members, timeline);
  // Flows (s, t), tensors (N, O, D) and counters (C) are no spans of time.
  if (event.phase != 'M' || event.name != "process_name") return;
  std::string name_text;
  std::string op_text;
  take_process_name(event, decode(members, name_text, op_text).name, timeline);
}

InstanceId instance_of(const IteratorSpan& call, std::map<StringId, InstanceId>& ids, Trace& trace) {
  const auto [place, is_new] = ids.try_emplace(call.long_name, static_cast<InstanceId>(trace.instances.size()));
  if (is_new) {
    IteratorInstance& added = trace.instances.emplace_back();
    added.long_name = call.long_name;
    added.first_start = added.last_start = call.start;
  }
  IteratorInstance& instance = trace.instances[index_of(place->second)];
  instance.first_start = std::min(instance.first_start, call.start);
  instance.last_start = std::max(instance.last_start, call.start);
  ++instance.event_count;
  return place->second;
}

/// Of GetNext spans those that lie in no other, sorted by start.
std::vector<TimelineSpan> outermost(std::vector<TimelineSpan> spans) {
  std::stable_sort(spans.begin(), spans.end(), [](const TimelineSpan& a, const TimelineSpan& b) {
    return std::tuple(a.start, -a.duration) < std::tuple(b.start, -b.duration);
  });
  std::vector<TimelineSpan> outer;
  for (const TimelineSpan& span : spans) {
    if (outer.empty() || span.end() > outer.back().end()) outer.push_back(span);
  }
  return outer;
}

/// Writes the calls of one timeline into a lane, in pre-order.
class CallWriter {
 public:
  CallWriter(const Timeline& timeline, const TimelineNesting& nesting, Trace& trace, Lane& lane)
      : calls_(timeline.calls), trace_(trace), lane_(lane), children_(timeline.calls.size()) {
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
        lane_.iterator_calls[top.row].subtree_end = row_count();
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
    const IteratorSpan& call = calls_[index];
    const std::uint32_t row = row_count();
    lane_.iterator_calls.push_back(
        {PackedSpan(call.start, call.duration), instance_of(call, instances_, trace_), row + 1});
    return row;
  }

  const std::vector<IteratorSpan>& calls_;
  Trace& trace_;
  Lane& lane_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::map<StringId, InstanceId> instances_;
};

/// One lane for all calls: GetNext ops with the calls in them, and the calls outside of any, by start.
void write_calls(const Timeline& timeline, Trace& trace) {
  const bool has_op = !timeline.get_next_ops.empty();
  const std::vector<TimelineSpan> get_nexts = outermost(has_op ? timeline.get_next_ops : timeline.other_get_next);
  std::vector<TimelineSpan> calls;
  for (const IteratorSpan& call : timeline.calls) {
    calls.push_back({call.start, call.duration, trace.strings[call.long_name]});
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
  CallWriter writer(timeline, nesting, trace, lane);
  for (const Unit& unit : units) {
    const std::uint32_t first_row = writer.row_count();
    for (const std::uint32_t root : unit.roots) writer.write(root);
    if (unit.get_next == kNoSpan) continue;
    const TimelineSpan& span = get_nexts[unit.get_next];
    lane.get_next_calls.push_back({PackedSpan(span.start, span.duration), first_row, writer.row_count()});
  }
  trace.iterator_event_count = timeline.calls.size();
}

void write_ops(const Timeline& timeline, Trace& trace) {
  std::map<ThreadKey, std::vector<OpSpan>> rows;
  for (const OpSpan& op : timeline.ops) {
    if (!timeline.accelerators.contains(op.place.process)) rows[op.place].push_back(op);
  }
  for (auto& row : rows) {
    std::stable_sort(row.second.begin(), row.second.end(), [](const OpSpan& a, const OpSpan& b) {
      return std::tuple(a.start, -a.duration) < std::tuple(b.start, -b.duration);
    });
    Lane& lane = trace.lanes.emplace_back();
    for (const OpSpan& op : row.second) {
      lane.ops.push_back({PackedSpan(op.start, op.duration), PackedToken{}, op.type});
    }
  }
}

Interval window_of(const Timeline& timeline) {
  Interval window{std::numeric_limits<Picoseconds>::max(), std::numeric_limits<Picoseconds>::min()};
  const auto widen = [&window](const auto& spans) {
    for (const auto& span : spans) {
      window.start = std::min(window.start, span.start);
      window.end = std::max(window.end, span.start + span.duration);
    }
  };
  widen(timeline.calls);
  widen(timeline.get_next_ops);
  widen(timeline.other_get_next);
  widen(timeline.ops);
  return window.start <= window.end ? window : Interval{};
}

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

Result<Trace> read_tf1_timeline(ByteSource& source, const WorkOptions& work) {
  Timeline timeline;
  JsonReadOptions options;
  options.work = work;
  JsonEventReader reader(source, options);
  while (const JsonEventBatch* batch = reader.next()) {
    for (const JsonEvent& event : batch->events) take(event, batch->arguments_of(event), timeline);
  }
  const JsonDocument& document = reader.document();
  if (auto error = reason_not_a_trace(document, source, timeline.event_count, timeline.other_count)) {
    return Unexpected(std::move(*error));
  }
  Trace& trace = timeline.trace;
  trace.path = source.name();
  trace.format = "tf1_timeline";
  trace.bytes = source.stored_size();
  trace.lanes_are_threads = false;
  trace.window = window_of(timeline);
  write_calls(timeline, trace);
  write_ops(timeline, trace);
  add_document_loss(document, source, trace);
  return std::move(trace);
}

}  // namespace doctor
