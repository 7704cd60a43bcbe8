#include "trace/chrome/chrome_event_reading.h"
#include "trace/chrome/chrome_events.h"
#include "trace/chrome/chrome_threads.h"
#include "trace/chrome/json_events.h"
#include "trace/chrome/json_text.h"
#include "trace/event_reader.h"
#include "trace/format.h"
#include "trace/timeline/timeline_events.h"
#include "trace/timeline/timeline_repeats.h"
#include "trace/trace_builder.h"

// Chrome traces as the TensorFlow profiler wrote them up to TF 2.10 and as XProf converts them today, and TF1
// timelines. Format: tensorflow/core/profiler/convert/trace_events_to_json.cc; the trace viewer's own "Trace Event
// Format". Names may come after the events that they name. A sink that can begin again gets the events of one reading,
// which begins again where that is so; for others the document is read twice: first for the names, then for the events.

namespace doctor {
namespace {

/// What the first reading finds.
struct DocumentNames {
  ChromeThreads threads;
  TimeOrigin origin;
  Picoseconds first_start = 0;  ///< since the origin; not after it
  std::uint64_t phase_count = 0;
  std::uint64_t metadata_count = 0;
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
  if (event.phase == 'M') {
    ++metadata_count;
    return threads.take_metadata(event);
  }
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
  EventHeader header;
  header.hosts = threads.hosts();
  header.devices = threads.accelerators();
  header.origin_ns = origin_ns;
  header.first_ns = first_ns;
  return header;
}

/// Hands on events up to the end, or until the sink is done.
void hand_on(JsonEventReader& reader, EventReading& reading, const EventSink& sink, const WorkOptions& work,
             EventTotals& totals) {
  while (const JsonEventBatch* const batch = sink.is_done() ? nullptr : reader.next()) {
    for (auto event = batch->events.begin(); event != batch->events.end() && !sink.is_done(); ++event) {
      reading.add(*event, *batch);
    }
    totals.add(reading.take_totals(), work);
  }
}

/// Adds what is lost around the events. `event_count`: of those with a time, or of all that sinks of all events get.
void add_losses(const ByteSource& source, const JsonDocument& document, std::uint64_t event_count, Dialect dialect,
                std::uint64_t phase_count, EventTotals& totals) {
  add_document_loss(document, source, event_count, totals.loss);
  if (dialect == Dialect::chrome) add_profiler_cut(source, phase_count, totals.loss);
  totals.event_count += document.malformed_events + document.oversized_events;
}

/// Names are learned on the way. Where one would have changed what came before it, the document is read again.
Result<EventTotals> read_once(ByteSource& source, EventSink& sink, WantedPlanes planes, const WorkOptions& work) {
  ChromeThreads threads;
  const TimeOrigin origin;
  const TimelineRepeats repeats;
  const DocumentFacts document{Dialect::chrome, true, threads, origin, repeats};
  JsonReadOptions options;
  options.work = work;
  while (true) {
    if (const Result<void> start = source.rewind(); !start) return Unexpected(start.error());
    EventReading reading(document, planes, sink);
    EventTotals totals;
    JsonEventReader reader(source, options);
    hand_on(reader, reading, sink, work, totals);
    if (threads.came_too_late()) {
      threads.begin_again();
      sink.begin_again();
      continue;
    }
    if (sink.is_done()) return totals;
    const auto& decoder = reading.decoder();
    if (auto error = reason_not_a_trace(reader.document(), source, decoder.phase_count(), decoder.other_count())) {
      return Unexpected(std::move(*error));
    }
    EventHeader header;
    header.hosts = threads.hosts();
    header.devices = threads.accelerators();
    header.origin_ns = reading.origin().nanoseconds();
    sink.end(header);
    reading.finish();
    totals.add(reading.take_totals(), work);
    add_losses(source, reader.document(), totals.timed_count, Dialect::chrome,
               decoder.phase_count() - decoder.metadata_count(), totals);
    return totals;
  }
}

Result<EventTotals> read_twice(ByteSource& source, Dialect dialect, EventSink& sink, WantedPlanes planes,
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
  const EventHeader header = names.header();
  sink.begin(header);
  options.splits_arguments = true;
  const DocumentFacts document{dialect, false, names.threads, names.origin, names.repeats};
  EventReading reading(document, planes, sink);
  EventTotals totals;
  JsonEventReader second(source, options);
  hand_on(second, reading, sink, work, totals);
  reading.finish();
  totals.add(reading.take_totals(), work);
  sink.end(header);
  add_losses(source, first.document(), totals.event_count, dialect, names.phase_count - names.metadata_count, totals);
  return totals;
}

}  // namespace

bool sniff_chrome_json(std::string_view head) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  const auto first = std::find_if_not(head.begin(), head.end(), is_json_space);
  if (first == head.end()) return false;
  if (*first == '[') {
    const auto second = std::find_if_not(first + 1, head.end(), is_json_space);
    const bool is_empty = second != head.end() && *second == ']';
    return is_empty || head.find("\"ph\"") != std::string_view::npos;
  }
  if (*first != '{') return false;
  // Members before the events may be longer than what sniffing sees.
  return head.find("\"traceEvents\"") != std::string_view::npos || head.size() >= kSniffLength;
}

Result<EventTotals> read_chrome_json(ByteSource& source, EventSink& sink, WantedPlanes planes,
                                     const WorkOptions& work) {
  if (sink.begin_again()) return read_once(source, sink, planes, work);
  return read_twice(source, Dialect::chrome, sink, planes, work);
}

Result<EventTotals> read_tf1_timeline(ByteSource& source, EventSink& sink, WantedPlanes planes,
                                      const WorkOptions& work) {
  return read_twice(source, Dialect::tf1_timeline, sink, planes, work);
}

}  // namespace doctor
