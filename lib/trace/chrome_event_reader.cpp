#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/chrome_document.h"
#include "trace/chrome_threads.h"
#include "trace/event_kind.h"
#include "trace/event_reader.h"
#include "trace/format.h"
#include "trace/json_events.h"
#include "trace/json_text.h"
#include "trace/timeline_events.h"
#include "trace/trace_builder.h"

// Every event of a Chrome trace or of a TF1 timeline with all its arguments. Names may stand behind the events that
// they name, so the document is read twice: first for the names, then for the events.

namespace doctor {
namespace {

enum class Dialect : std::uint8_t { chrome, tf1_timeline };

bool is_span(char phase) {
  return phase == 'X' || phase == 'B' || phase == 'E';
}

/// Instants of the old form and of the two present ones.
bool is_instant(char phase) {
  return phase == 'i' || phase == 'I' || phase == 'n';
}

/// Why an event that lasts no time of its own on a thread is left out.
const char* reason_to_leave_out(char phase) {
  switch (phase) {
    case '\0':
      return "events_without_phase";
    case 's':
    case 't':
    case 'f':
      return "flow_events";
    case 'C':
      return "counter_events";
    case 'b':
    case 'e':
    case 'S':
    case 'T':
    case 'p':
    case 'F':
      return "async_events";
    case 'N':
    case 'O':
    case 'D':
      return "object_events";
    default:
      return "events_of_unknown_phase";
  }
}

/// What the first reading tells.
struct DocumentNames {
  ChromeThreads threads;
  TimeOrigin origin;
  std::optional<MicrosecondTime> first_instant;
  bool has_spans = false;
  Picoseconds first_start = 0;  ///< of the spans, since the origin; not after it
  std::uint64_t phase_count = 0;
  std::uint64_t other_count = 0;

  void take(const JsonEvent& event);
  EventHeader header();
};

void DocumentNames::take(const JsonEvent& event) {
  ++(event.phase == '\0' ? other_count : phase_count);
  if (event.start_text == NumberText::valid) {
    // Times count from the first span, as when a diagnosis reads the document.
    if (is_span(event.phase)) first_start = std::min(first_start, origin.since(event.start).value_or(0));
    has_spans = has_spans || is_span(event.phase);
    if (is_instant(event.phase) && !first_instant) first_instant = event.start;
  }
  const bool is_process = event.name == "process_name";
  if (event.phase != 'M' || (!is_process && event.name != "thread_name")) return;
  std::string scratch;
  JsonMembers members(event.arguments);
  for (JsonMember member; members.next(member);) {
    if (member.key != "name" || !member.is_string) continue;
    const std::string_view name = unescape_json(member.value, scratch);
    if (is_process) {
      threads.name_process(event.process, name);
    } else {
      threads.name_thread(event.process, event.thread, name);
    }
  }
}

EventHeader DocumentNames::header() {
  if (!has_spans && first_instant) static_cast<void>(origin.since(*first_instant));
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

/// An event whose begin (phase B) was seen and whose end (E) was not yet.
struct BegunEvent {
  std::string name;
  std::string arguments;
  Picoseconds start = 0;
};

/// A thread with events.
struct Track {
  EventLine line;
  std::vector<BegunEvent> begun;
};

/// The second reading.
class EventReading {
 public:
  EventReading(DocumentNames& names, Dialect dialect, EventSink& sink, WantedPlanes wanted)
      : names_(names), dialect_(dialect), sink_(sink), wanted_(wanted) {}

  void add(const JsonEventBatch& batch);
  EventTotals finish();
  std::uint64_t event_count() const { return totals_.event_count; }

 private:
  void take(const JsonEvent& event);
  void take_complete(const JsonEvent& event);
  void take_begin(const JsonEvent& event);
  void take_end(const JsonEvent& event);
  void take_instant(const JsonEvent& event);
  void hand_on(std::string_view name, Picoseconds start, Picoseconds duration);
  void name_event(std::string_view name, TraceEvent& event);
  Track& track_of(const JsonEvent& event);
  const EventPlane& plane_of(std::uint64_t process);
  std::optional<Picoseconds> start_of(const JsonEvent& event);
  bool is_usable(NumberText text, const char* reason_if_missing);
  void lose(const char* reason) {
    ++totals_.event_count;
    totals_.loss.add(reason);
  }

  DocumentNames& names_;
  Dialect dialect_;
  EventSink& sink_;
  WantedPlanes wanted_;
  EventTotals totals_;
  const JsonEventBatch* batch_ = nullptr;
  ArgumentReader arguments_;
  std::deque<EventPlane> planes_;
  std::unordered_map<std::uint64_t, const EventPlane*> planes_by_process_;
  std::deque<Track> tracks_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Track*> tracks_by_thread_;
  Track* track_ = nullptr;  ///< of the last event: neighbours in a file are mostly of one thread
  std::uint64_t process_ = 0;
  std::uint64_t thread_ = 0;
};

void EventReading::add(const JsonEventBatch& batch) {
  batch_ = &batch;
  for (const JsonEvent& event : batch.events) {
    if (sink_.is_done()) return;
    take(event);
  }
}

void EventReading::take(const JsonEvent& event) {
  if (event.phase == 'M') return;
  if (wanted_ == WantedPlanes::devices &&
      kind_of_process(names_.threads.process_name(event.process)) != PlaneKind::device) {
    return;
  }
  if (event.phase == 'X') return take_complete(event);
  if (event.phase == 'B') return take_begin(event);
  if (event.phase == 'E') return take_end(event);
  if (is_instant(event.phase)) return take_instant(event);
  lose(reason_to_leave_out(event.phase));
}

/// Whether a number can be used; counts why not.
bool EventReading::is_usable(NumberText text, const char* reason_if_missing) {
  if (text == NumberText::missing) lose(reason_if_missing);
  if (text == NumberText::malformed) lose("events_malformed");
  if (text == NumberText::out_of_range) lose("events_outside_time_range");
  return text == NumberText::valid;
}

std::optional<Picoseconds> EventReading::start_of(const JsonEvent& event) {
  if (!is_usable(event.start_text, "events_without_time")) return std::nullopt;
  const std::optional<Picoseconds> start = names_.origin.since(event.start);
  if (!start) lose("events_outside_time_range");
  return start;
}

void EventReading::take_complete(const JsonEvent& event) {
  const std::optional<Picoseconds> start = start_of(event);
  if (!start || !is_usable(event.duration_text, "events_without_duration")) return;
  const std::optional<Picoseconds> duration = to_picoseconds(event.duration, 0);
  if (!duration) return lose("events_outside_time_range");
  track_of(event);
  arguments_.begin();
  for (const JsonMember& member : batch_->arguments_of(event)) arguments_.add(member);
  hand_on(event.name, *start, *duration);
}

void EventReading::take_instant(const JsonEvent& event) {
  const std::optional<Picoseconds> start = start_of(event);
  if (!start) return;
  track_of(event);
  arguments_.begin();
  for (const JsonMember& member : batch_->arguments_of(event)) arguments_.add(member);
  hand_on(event.name, *start, 0);
}

void EventReading::take_begin(const JsonEvent& event) {
  const std::optional<Picoseconds> start = start_of(event);
  if (!start) return;
  track_of(event).begun.push_back({std::string(event.name), std::string(event.arguments), *start});
}

void EventReading::take_end(const JsonEvent& event) {
  const std::optional<Picoseconds> end = start_of(event);
  if (!end) return;
  std::vector<BegunEvent>& open = track_of(event).begun;
  if (open.empty()) return lose("events_unpaired");
  const BegunEvent begun = std::move(open.back());
  open.pop_back();
  Picoseconds duration = 0;
  if (__builtin_sub_overflow(*end, begun.start, &duration)) return lose("events_outside_time_range");
  arguments_.begin();
  JsonMembers members(begun.arguments);
  for (JsonMember member; members.next(member);) arguments_.add(member);
  for (const JsonMember& member : batch_->arguments_of(event)) arguments_.add(member);
  hand_on(begun.name, begun.start, duration);
}

/// Hands the event on that is on the present track, with the present arguments.
void EventReading::hand_on(std::string_view name, Picoseconds start, Picoseconds duration) {
  const char* const fault =
      dialect_ == Dialect::chrome ? time_fault(start, duration) : timeline_time_fault(start, duration);
  if (fault != nullptr) return lose(fault);
  ++totals_.event_count;
  TraceEvent event;
  event.line = &track_->line;
  event.start = start;
  event.duration = duration;
  name_event(name, event);
  event.arguments = arguments_.arguments();
  sink_.take(event);
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
  // Timelines have the node in `name` of the arguments, with its op type behind it where the event is named "unknown".
  const std::string_view node = arguments_.text_of("name");
  const std::string_view op = arguments_.text_of("op");
  if (node.empty()) return;
  event.name = node;
  event.short_name = name;
  const bool has_type = classify_event(node) == EventKind::iterator || !op_type_of(node).empty();
  if (has_type || op.empty() || op == "unknown") return;
  std::string& typed = arguments_.new_text();
  typed.assign(node).append(":").append(op);
  event.name = typed;
}

Track& EventReading::track_of(const JsonEvent& event) {
  if (track_ != nullptr && process_ == event.process && thread_ == event.thread) return *track_;
  process_ = event.process;
  thread_ = event.thread;
  Track*& known = tracks_by_thread_[{process_, thread_}];
  if (known == nullptr) {
    known = &tracks_.emplace_back();
    EventLine& line = known->line;
    line.plane = &plane_of(process_);
    line.name = names_.threads.thread(process_, thread_).name;
    line.kind = kind_of_line(line.name);
    line.id = thread_;
    line.index = tracks_.size() - 1;
  }
  track_ = known;
  return *track_;
}

const EventPlane& EventReading::plane_of(std::uint64_t process) {
  const EventPlane*& known = planes_by_process_[process];
  if (known != nullptr) return *known;
  EventPlane& plane = planes_.emplace_back();
  const std::string_view title = names_.threads.process_name(process);
  const std::optional<std::string> accelerator = accelerator_of(title);
  plane.title = title;
  plane.kind = kind_of_process(title);
  plane.id = process;
  plane.index = planes_.size() - 1;
  // "name /host:CPU" and "name /device:GPU:0" where a trace has several hosts.
  for (const std::string& host : names_.threads.hosts()) {
    if (title.starts_with(host + " /")) plane.host = host;
  }
  plane.name = accelerator ? *accelerator : title.substr(plane.host.empty() ? 0 : plane.host.size() + 1);
  known = &plane;
  return plane;
}

EventTotals EventReading::finish() {
  for (const Track& track : tracks_) {
    for (std::size_t open = 0; open < track.begun.size(); ++open) lose("events_unpaired");
  }
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
    for (const JsonEvent& event : batch->events) names.take(event);
  }
  if (auto error = reason_not_a_trace(first.document(), source, names.phase_count, names.other_count)) {
    return Unexpected(std::move(*error));
  }
  if (const Result<void> again = source.rewind(); !again) return Unexpected(again.error());
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
