#include <algorithm>
#include <charconv>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "trace/chrome_events.h"
#include "trace/chrome_threads.h"
#include "trace/event_kind.h"
#include "trace/event_reader.h"
#include "trace/format.h"
#include "trace/json_events.h"
#include "trace/json_text.h"
#include "trace/timeline_events.h"
#include "trace/timeline_repeats.h"
#include "trace/trace_builder.h"

// Every event of a Chrome trace or of a TF1 timeline with all its arguments. Names may come after the events that
// they name, so the document is read twice: first for the names, then for the events.

namespace doctor {
namespace {

enum class Dialect : std::uint8_t { chrome, tf1_timeline };

/// What the first reading finds.
struct DocumentNames {
  ChromeThreads threads;
  TimeOrigin origin;
  Picoseconds first_start = 0;  ///< since the origin; not after it
  std::uint64_t phase_count = 0;
  std::uint64_t other_count = 0;
  TimelineRepeats repeats;  ///< of a TF1 timeline

  void take(const JsonEvent& event, Dialect dialect);
  EventHeader header() const;
};

/// For what a TF1 timeline may draw twice.
void add_drawing(const JsonEvent& event, Picoseconds start, DocumentNames& names) {
  std::string name;
  std::string op;
  JsonMembers members(event.arguments);
  for (JsonMember member; members.next(member);) {
    if (!member.is_string || (member.key != "name" && member.key != "op")) continue;
    std::string scratch;
    (member.key == "name" ? name : op) = unescape_json(member.value, scratch);
  }
  const std::optional<Picoseconds> duration = to_picoseconds(event.duration, 0);
  if (!duration || timeline_time_fault(start, *duration) != nullptr) return;
  names.repeats.add(event.process, event.name, name, op, {start, start + *duration});
}

void DocumentNames::take(const JsonEvent& event, Dialect dialect) {
  ++(event.phase == '\0' ? other_count : phase_count);
  if (event.phase == 'M') return threads.take_metadata(event);
  if (!threads.is_recorded(event)) return;
  if (!is_on_thread(event.phase) || event.start_text != NumberText::valid) return;
  const Picoseconds start = origin.since(event.start).value_or(0);
  first_start = std::min(first_start, start);
  if (dialect == Dialect::tf1_timeline && event.phase == 'X') add_drawing(event, start, *this);
}

EventHeader DocumentNames::header() const {
  const std::int64_t origin_ns = origin.nanoseconds();
  std::int64_t first_ns = 0;
  // Rounded down: no event starts before.
  const std::int64_t since_origin = first_start / kPicosecondsPerNanosecond - (first_start < 0 ? 1 : 0);
  if (__builtin_add_overflow(origin_ns, since_origin, &first_ns)) first_ns = origin_ns;
  return {threads.hosts(), threads.accelerators(), origin_ns, first_ns};
}

/// Decodes the arguments of one event after another. Views live until the next event.
class ArgumentReader {
 public:
  void begin() {
    arguments_.clear();
    used_texts_ = 0;
  }
  void add(const JsonMember& member);

  /// The text argument of this name; empty if there is none.
  std::string_view text_of(std::string_view name) const;
  void remove(std::string_view name) {
    std::erase_if(arguments_, [&](const EventArgument& argument) { return argument.name == name; });
  }
  /// Text that lives as long as the arguments.
  std::string& new_text() {
    if (used_texts_ == texts_.size()) texts_.emplace_back();
    return texts_[used_texts_++];
  }
  std::span<const EventArgument> arguments() const { return arguments_; }

 private:
  std::string_view unescape(std::string_view raw) {
    return raw.find('\\') == std::string_view::npos ? raw : unescape_json(raw, new_text());
  }

  std::vector<EventArgument> arguments_;
  std::deque<std::string> texts_;  ///< used again from event to event
  std::size_t used_texts_ = 0;
};

void ArgumentReader::add(const JsonMember& member) {
  EventArgument& argument = arguments_.emplace_back();
  argument.name = unescape(member.key);
  if (member.is_string) {
    argument.text = unescape(member.value);
    return;
  }
  if (const std::optional<std::int64_t> number = parse_integer(member.value)) {
    argument.type = ArgumentType::integer;
    argument.integer = *number;
    return;
  }
  if (const std::optional<std::uint64_t> number = parse_token(member.value)) {
    argument.type = ArgumentType::unsigned_integer;
    argument.unsigned_integer = *number;
    return;
  }
  const char* const end = member.value.data() + member.value.size();
  const std::from_chars_result parsed = std::from_chars(member.value.data(), end, argument.real);
  if (parsed.ec == std::errc{} && parsed.ptr == end) {
    argument.type = ArgumentType::real;
  } else {
    argument.text = member.value;  // true, null, or a nested value as its text
  }
}

std::string_view ArgumentReader::text_of(std::string_view name) const {
  for (const EventArgument& argument : arguments_) {
    if (argument.name == name && argument.type == ArgumentType::text) return argument.text;
  }
  return {};
}

/// The second reading.
class EventReading {
 public:
  EventReading(DocumentNames& names, Dialect dialect, EventSink& sink, WantedPlanes wanted)
      : names_(names), dialect_(dialect), sink_(sink), wanted_(wanted) {}

  void add(const JsonEventBatch& batch);
  EventTotals finish();
  std::uint64_t event_count() const { return totals_.event_count; }

  // What the decoder hands on.
  void take(const ChromeEvent& event);
  void take_metadata(const JsonEvent& /*event*/) {}  // the first reading took it
  void lose(const char* reason, std::uint64_t count) {
    totals_.event_count += count;
    totals_.loss.add(reason, count);
  }
  void leave_out(const char* reason) { lose(reason, 1); }

 private:
  void name_event(std::string_view name, TraceEvent& event);
  const EventLine& line_of(ChromeThread& thread);
  const EventPlane& plane_of(ChromeProcess& process);

  DocumentNames& names_;
  Dialect dialect_;
  EventSink& sink_;
  WantedPlanes wanted_;
  EventTotals totals_;
  ChromeDecoder<EventReading> decoder_{*this, names_.origin};
  ArgumentReader arguments_;
  std::deque<EventPlane> planes_;
  std::deque<EventLine> lines_;  ///< by ChromeThread::lane
};

void EventReading::add(const JsonEventBatch& batch) {
  for (const JsonEvent& event : batch.events) {
    if (sink_.is_done()) return;
    if (!names_.threads.is_recorded(event)) continue;
    const bool is_wanted =
        wanted_ == WantedPlanes::all || names_.threads.process(event.process).kind == PlaneKind::device;
    if (is_wanted) decoder_.take(event, batch);
  }
}

void EventReading::take(const ChromeEvent& event) {
  const bool is_chrome = dialect_ == Dialect::chrome;
  const char* const fault = (is_chrome ? time_fault : timeline_time_fault)(event.start, event.duration);
  if (fault != nullptr) return lose(fault, 1);
  ++totals_.event_count;
  arguments_.begin();
  for (const JsonMember& member : event.arguments) arguments_.add(member);
  TraceEvent handed_on;
  handed_on.line = &line_of(names_.threads.thread(event.process, event.thread));
  handed_on.start = event.start;
  handed_on.duration = event.duration;
  name_event(event.name, handed_on);
  handed_on.arguments = arguments_.arguments();
  sink_.take(handed_on);
}

void EventReading::name_event(std::string_view name, TraceEvent& event) {
  event.name = name;
  if (dialect_ == Dialect::chrome) {
    const std::string_view long_name = arguments_.text_of("long_name");
    if (long_name.empty()) return;
    event.name = long_name;
    event.short_name = name;
    return arguments_.remove("long_name");
  }
  // Timelines have the node in `name` of the arguments, with its op type after it where the event is named "unknown".
  const std::string_view node = arguments_.text_of("name");
  const std::string_view op = arguments_.text_of("op");
  if (node.empty()) return;
  event.is_repeat = names_.repeats.contains(name, node, {event.start, event.start + event.duration});
  event.name = node;
  event.short_name = name;
  const bool has_type = classify_event(node) == EventKind::iterator || !op_type_of(node).empty();
  if (has_type || op.empty() || op == "unknown") return;
  std::string& typed = arguments_.new_text();
  typed.assign(node).append(":").append(op);
  event.name = typed;
}

const EventLine& EventReading::line_of(ChromeThread& thread) {
  if (thread.lane == kNoLane) {
    thread.lane = static_cast<LaneId>(lines_.size());
    EventLine& line = lines_.emplace_back();
    line.plane = &plane_of(*thread.process);
    line.name = thread.name();
    line.kind = kind_of_line(*line.plane, line.name);
    line.id = thread.id;
    line.index = lines_.size() - 1;
  }
  return lines_[index_of(thread.lane)];
}

const EventPlane& EventReading::plane_of(ChromeProcess& process) {
  if (process.plane != nullptr) return *process.plane;
  EventPlane& plane = planes_.emplace_back();
  const std::string_view title = process.name;
  const std::optional<std::string> accelerator = accelerator_of(title);
  plane.title = title;
  plane.kind = process.kind;
  plane.id = process.id;
  plane.index = planes_.size() - 1;
  // "name /host:CPU" and "name /device:GPU:0" where a trace has several hosts.
  const std::string_view host = title.substr(0, std::min(title.find(" /"), title.size()));
  if (names_.threads.has_host(host)) plane.host = host;
  plane.name = accelerator ? *accelerator : title.substr(plane.host.empty() ? 0 : plane.host.size() + 1);
  process.plane = &plane;
  return plane;
}

EventTotals EventReading::finish() {
  decoder_.finish();
  return std::move(totals_);
}

Result<EventTotals> read_events(ByteSource& source, Dialect dialect, EventSink& sink, WantedPlanes planes,
                                const WorkOptions& work) {
  if (const Result<void> start = source.rewind(); !start) return Unexpected(start.error());
  DocumentNames names;
  JsonReadOptions options;
  options.work = work;
  options.splits_arguments = false;
  JsonEventReader first(source, options);
  while (const JsonEventBatch* batch = first.next()) {
    for (const JsonEvent& event : batch->events) names.take(event, dialect);
  }
  if (auto error = reason_not_a_trace(first.document(), source, names.phase_count, names.other_count)) {
    return Unexpected(std::move(*error));
  }
  if (const Result<void> again = source.rewind(); !again) return Unexpected(again.error());
  names.repeats.find(names.threads);
  sink.begin(names.header());
  options.splits_arguments = true;
  JsonEventReader second(source, options);
  EventReading reading(names, dialect, sink, planes);
  const JsonEventBatch* batch = nullptr;
  while (!sink.is_done() && (batch = second.next()) != nullptr) {
    reading.add(*batch);
    if (work.progress != nullptr) work.progress->event_count = reading.event_count();
  }
  EventTotals totals = reading.finish();
  const JsonDocument& document = first.document();
  add_document_loss(document, source, totals.event_count, totals.loss);
  totals.event_count += document.malformed_events + document.oversized_events;
  return totals;
}

}  // namespace

Result<EventTotals> read_chrome_json_events(ByteSource& source, EventSink& sink, WantedPlanes planes,
                                            const WorkOptions& work) {
  return read_events(source, Dialect::chrome, sink, planes, work);
}

Result<EventTotals> read_tf1_timeline_events(ByteSource& source, EventSink& sink, WantedPlanes planes,
                                             const WorkOptions& work) {
  return read_events(source, Dialect::tf1_timeline, sink, planes, work);
}

}  // namespace doctor
