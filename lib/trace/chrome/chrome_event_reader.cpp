#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

// Every event of a Chrome trace or of a TF1 timeline with all its arguments. Names may come after the events that
// they name, so the document is read twice: first for the names, then for the events.

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
  return {threads.hosts(), threads.accelerators(), origin_ns, first_ns};
}

/// Has the events of a batch taken by parts of a sink, on the thread that parsed it. What an event begins that another
/// batch ends is left to who takes the batches in their order; the rest of the batch does not depend on others.
class BatchParts final : public JsonBatchTaker {
 public:
  BatchParts(NamedDocument& document, PartedSink& whole) : reading_(document), whole_(whole) {}

  void take(const JsonEventBatch& batch) override;

  /// Joins the parts. `in_order` takes the events between them, and all that remains open.
  void join(const JsonEventBatch& batch, NamedDocument& document, EventReading& in_order);
  EventTotals take_totals() { return reading_.take_totals(); }

 private:
  /// Neighbours.
  struct Section {
    std::unique_ptr<EventSink> part;
    std::vector<ChromeLine*> lines;  ///< in the order they are met; some more than once
    std::size_t end = 0;             ///< index of the event after it, which ends what another batch began
  };

  void begin_section();

  /// What is above is taken as by one thread: memory is bounded.
  static constexpr std::size_t kMostSections = 64;

  EventReading reading_;
  PartedSink& whole_;
  std::vector<Section> sections_;  ///< used again from batch to batch
  std::size_t section_count_ = 0;  ///< of this batch
};

void BatchParts::begin_section() {
  if (section_count_ == sections_.size()) sections_.emplace_back().part = whole_.make_part();
  Section& section = sections_[section_count_++];
  section.lines.clear();
  reading_.hand_to(*section.part, &section.lines);
}

void BatchParts::take(const JsonEventBatch& batch) {
  section_count_ = 0;
  begin_section();
  std::size_t at = 0;
  for (; at < batch.events.size(); ++at) {
    const JsonEvent& event = batch.events[at];
    if (!reading_.is_wanted(event)) continue;
    if (event.phase != 'E' || reading_.open().has(event)) {
      reading_.add(event, batch);
      continue;
    }
    if (section_count_ == kMostSections) break;
    sections_[section_count_ - 1].end = at;
    begin_section();
  }
  sections_[section_count_ - 1].end = at;
}

void BatchParts::join(const JsonEventBatch& batch, NamedDocument& document, EventReading& in_order) {
  std::size_t at = 0;
  for (std::size_t index = 0; index < section_count_; ++index) {
    const Section& section = sections_[index];
    for (ChromeLine* const line : section.lines) document.lines.number(*line);
    whole_.join(*section.part);
    at = section.end;
    if (index + 1 < section_count_) in_order.add(batch.events[at], batch);
  }
  in_order.open().take_over(reading_.open());
  for (; at < batch.events.size(); ++at) {
    if (in_order.is_wanted(batch.events[at])) in_order.add(batch.events[at], batch);
  }
}

/// The second reading.
class SecondReading {
 public:
  SecondReading(NamedDocument& document, EventSink& sink, const WorkOptions& work)
      : document_(document), sink_(sink), parted_(parts_of(sink, work)), in_order_(document) {
    in_order_.hand_to(sink, nullptr);
  }

  /// Reads the events up to the end, or until the sink is done.
  EventTotals read(ByteSource& source, JsonReadOptions options);

 private:
  void take(const JsonEventBatch& batch);

  NamedDocument& document_;
  EventSink& sink_;
  PartedSink* const parted_;
  EventReading in_order_;
  EventTotals totals_;
};

EventTotals SecondReading::read(ByteSource& source, JsonReadOptions options) {
  if (parted_ != nullptr) {
    options.make_taker = [this] { return std::make_unique<BatchParts>(document_, *parted_); };
  }
  JsonEventReader reader(source, options);
  while (const JsonEventBatch* const batch = sink_.is_done() ? nullptr : reader.next()) {
    if (auto* const parts = static_cast<BatchParts*>(reader.taker())) {
      parts->join(*batch, document_, in_order_);
      totals_.add(parts->take_totals(), options.work);
    } else {
      take(*batch);
    }
    totals_.add(in_order_.take_totals(), options.work);
  }
  in_order_.finish();
  totals_.add(in_order_.take_totals(), options.work);
  return std::move(totals_);
}

void SecondReading::take(const JsonEventBatch& batch) {
  for (const JsonEvent& event : batch.events) {
    if (sink_.is_done()) return;
    if (in_order_.is_wanted(event)) in_order_.add(event, batch);
  }
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
  NamedDocument named(names.threads, names.origin, names.repeats, dialect, planes);
  EventTotals totals = SecondReading(named, sink, work).read(source, options);
  const JsonDocument& document = first.document();
  add_document_loss(document, source, totals.event_count, totals.loss);
  if (dialect == Dialect::chrome) {
    add_profiler_cut(source, names.phase_count - names.metadata_count, totals.loss);
  }
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
