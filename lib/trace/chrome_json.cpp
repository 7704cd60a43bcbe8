#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/attribute_tracks.h"
#include "trace/chrome_arguments.h"
#include "trace/chrome_document.h"
#include "trace/chrome_threads.h"
#include "trace/format.h"
#include "trace/json_events.h"
#include "trace/json_text.h"
#include "trace/queue_sample.h"
#include "trace/trace_builder.h"

// Chrome traces as the TensorFlow profiler wrote them up to TF 2.10 and as XProf converts them today. Format:
// tensorflow/core/profiler/convert/trace_events_to_json.cc; the trace viewer's own "Trace Event Format".

namespace doctor {
namespace {

/// An event whose begin (phase B) was seen and whose end (E) was not yet.
struct BegunEvent {
  std::string name;
  std::string arguments;
  Picoseconds start = 0;
};

/// One reading of a document, from its first event to its last.
class ChromeReading {
 public:
  ChromeReading(ChromeThreads& threads, TraceBuilder::Order order, const ReadOptions& options)
      : threads_(threads), builder_(order) {
    if (options.attribute_history) tracker_.emplace(order == TraceBuilder::Order::sorted);
  }

  void add(const JsonEventBatch& batch);
  bool saw_disorder() const { return builder_.saw_disorder(); }
  std::uint64_t phase_count() const { return phase_count_; }
  std::uint64_t other_count() const { return other_count_; }
  Trace finish();

 private:
  struct Place {
    std::uint64_t process = 0;
    std::uint64_t thread = 0;
    ChromeThread* of = nullptr;
    bool is_host = true;
  };

  void take(const JsonEvent& event);
  void take_metadata(const JsonEvent& event);
  void take_complete(const JsonEvent& event);
  void take_begin(const JsonEvent& event);
  void take_end(const JsonEvent& event);
  void keep(const JsonEvent& event, std::span<const JsonMember> members, Picoseconds start, Picoseconds duration);
  InstanceId see_instance(StringId long_name, const ChromeArguments& arguments, Picoseconds start);
  void hand_on(LaneId lane, const LaneEvent& event);
  void flush();
  void keep_derived_step(const Place& place, const JsonEvent& event, Picoseconds start, Picoseconds duration);
  void add_derived_steps();
  bool is_usable(NumberText text, const char* reason_if_missing);
  std::optional<Picoseconds> start_of(const JsonEvent& event);
  const Place& place_of(const JsonEvent& event);
  LaneId lane_of(const Place& place);

  ChromeThreads& threads_;
  TraceBuilder builder_;
  QueueSampler queue_;
  std::optional<AttributeTracker> tracker_;  ///< where histories are wanted
  const JsonEventBatch* batch_ = nullptr;
  ChromeArgumentDecoder decoder_;
  TimeOrigin origin_;
  Place place_;  ///< of the last event: neighbours in a file are mostly of one thread
  std::vector<ChromeThread*> kept_threads_;
  std::unordered_map<ChromeThread*, std::vector<BegunEvent>> begun_;
  std::vector<std::pair<LaneId, LaneEvent>> derived_steps_;
  std::vector<LaneEvent> lane_events_;  ///< of `lane_`, not yet with the builder
  LaneId lane_{};
  std::vector<SeenAttribute> attributes_;
  bool has_markers_ = false;
  std::uint64_t phase_count_ = 0;
  std::uint64_t other_count_ = 0;
};

void ChromeReading::add(const JsonEventBatch& batch) {
  batch_ = &batch;
  for (const JsonEvent& event : batch.events) take(event);
  flush();
}

void ChromeReading::take(const JsonEvent& event) {
  ++(event.phase == '\0' ? other_count_ : phase_count_);
  switch (event.phase) {
    case 'X':
      return take_complete(event);
    case 'B':
      return take_begin(event);
    case 'E':
      return take_end(event);
    case 'M':
      return take_metadata(event);
    case '\0':
      return builder_.trace().loss.add("events_without_phase");
    default:
      return;  // instants, flows, counters, objects: no span of time
  }
}

void ChromeReading::take_metadata(const JsonEvent& event) {
  const bool is_process = event.name == "process_name";
  if (!is_process && event.name != "thread_name") return;
  std::string scratch;
  for (const JsonMember& member : batch_->arguments_of(event)) {
    if (member.key != "name" || !member.is_string) continue;
    const std::string_view name = unescape_json(member.value, scratch);
    if (is_process) {
      threads_.name_process(event.process, name);
    } else {
      threads_.name_thread(event.process, event.thread, name);
    }
  }
  place_ = {};
}

/// Whether a number can be used; counts why not.
bool ChromeReading::is_usable(NumberText text, const char* reason_if_missing) {
  switch (text) {
    case NumberText::valid:
      return true;
    case NumberText::missing:
      builder_.trace().loss.add(reason_if_missing);
      return false;
    case NumberText::malformed:
      builder_.trace().loss.add("events_malformed");
      return false;
    case NumberText::out_of_range:
      builder_.trace().loss.add("events_outside_time_range");
      return false;
  }
  return false;
}

std::optional<Picoseconds> ChromeReading::start_of(const JsonEvent& event) {
  if (!is_usable(event.start_text, "events_without_time")) return std::nullopt;
  const std::optional<Picoseconds> start = origin_.since(event.start);
  if (!start) builder_.trace().loss.add("events_outside_time_range");
  return start;
}

void ChromeReading::take_complete(const JsonEvent& event) {
  const std::optional<Picoseconds> start = start_of(event);
  if (!start || !is_usable(event.duration_text, "events_without_duration")) return;
  const std::optional<Picoseconds> duration = to_picoseconds(event.duration, 0);
  if (!duration) return builder_.trace().loss.add("events_outside_time_range");
  keep(event, batch_->arguments_of(event), *start, *duration);
}

void ChromeReading::take_begin(const JsonEvent& event) {
  const std::optional<Picoseconds> start = start_of(event);
  if (!start) return;
  begun_[place_of(event).of].push_back({std::string(event.name), std::string(event.arguments), *start});
}

void ChromeReading::take_end(const JsonEvent& event) {
  const std::optional<Picoseconds> end = start_of(event);
  if (!end) return;
  std::vector<BegunEvent>& open = begun_[place_of(event).of];
  if (open.empty()) return builder_.trace().loss.add("events_unpaired");
  const BegunEvent begun = std::move(open.back());
  open.pop_back();
  Picoseconds duration = 0;
  if (__builtin_sub_overflow(*end, begun.start, &duration)) {
    return builder_.trace().loss.add("events_outside_time_range");
  }
  JsonEvent whole = event;
  whole.name = begun.name;
  std::vector<JsonMember> arguments;
  JsonMembers members(begun.arguments);
  for (JsonMember member; members.next(member);) arguments.push_back(member);
  keep(whole, arguments, begun.start, duration);
}

const ChromeReading::Place& ChromeReading::place_of(const JsonEvent& event) {
  if (place_.of == nullptr || place_.process != event.process || place_.thread != event.thread) {
    place_ = {event.process, event.thread, &threads_.thread(event.process, event.thread),
              threads_.is_host(event.process)};
  }
  return place_;
}

LaneId ChromeReading::lane_of(const Place& place) {
  if (!place.of->lane) {
    place.of->lane = builder_.lane(place.process, place.thread);
    builder_.name_lane(*place.of->lane, place.of->name);
    kept_threads_.push_back(place.of);
  }
  return *place.of->lane;
}

void ChromeReading::keep(const JsonEvent& event, std::span<const JsonMember> members, Picoseconds start,
                         Picoseconds duration) {
  const Place& place = place_of(event);
  if (!place.is_host || place.of->is_derived) return builder_.count_other(1);
  if (place.of->is_step_line) return keep_derived_step(place, event, start, duration);

  LaneEvent kept;
  kept.start = start;
  kept.duration = duration;
  kept.kind = classify_event(event.name);
  const ChromeArguments& arguments = decoder_.decode(members, kept.kind, builder_);
  std::string_view name = event.name;
  if (kept.kind == EventKind::iterator && !arguments.long_name.empty()) name = arguments.long_name;
  if (kept.kind == EventKind::other) {
    if (classify_event(arguments.long_name) == EventKind::op) {
      kept.kind = EventKind::op;
      name = arguments.long_name;
    } else if (arguments.step_number) {
      kept.kind = EventKind::step;
      has_markers_ = true;
    } else {
      return builder_.count_other(1);
    }
  }
  kept.name_length = name_length_of(name);
  kept.id = arguments.id.value_or(0);
  if (kept.kind == EventKind::produce || kept.kind == EventKind::consume) kept.id = arguments.element_id.value_or(0);
  if (kept.kind == EventKind::step) kept.id = static_cast<std::uint64_t>(*arguments.step_number);
  if (kept.kind == EventKind::op) kept.subject = static_cast<std::uint32_t>(builder_.intern(op_type_of(name)));
  if (const char* const fault = time_fault(start, duration)) {
    builder_.trace().loss.add(fault);
    return builder_.count_other(1);
  }
  if (kept.kind == EventKind::region_queued) {
    if (arguments.closure != 0) queue_.queued(arguments.closure, start);
    return builder_.count_other(1);
  }
  if (kept.kind == EventKind::iterator) {
    kept.subject = static_cast<std::uint32_t>(see_instance(builder_.intern(name), arguments, start));
  }
  const LaneId lane = lane_of(place);
  if (kept.kind == EventKind::region_start) {
    kept.id = arguments.closure;
    if (kept.id != 0) queue_.started(kept.id, start, lane);
  }
  if (tracker_ && kept.kind == EventKind::iterator) {
    tracker_->note(lane, static_cast<InstanceId>(kept.subject), start, arguments.attributes);
  }
  hand_on(lane, kept);
}

InstanceId ChromeReading::see_instance(StringId long_name, const ChromeArguments& arguments, Picoseconds start) {
  attributes_.clear();
  for (const Attribute& attribute : arguments.attributes) attributes_.push_back({attribute, start});
  InstanceSighting sighting;
  sighting.long_name = long_name;
  sighting.dataset_name = builder_.intern(arguments.dataset_name);
  sighting.id = arguments.id;
  sighting.parent_id = arguments.parent_id;
  sighting.first_start = sighting.last_start = start;
  sighting.event_count = 1;
  sighting.attributes = attributes_;
  return builder_.see(sighting);
}

/// Events of one lane go to the builder together.
void ChromeReading::hand_on(LaneId lane, const LaneEvent& event) {
  if (lane != lane_) flush();
  lane_ = lane;
  lane_events_.push_back(event);
}

void ChromeReading::flush() {
  if (!lane_events_.empty()) builder_.add(lane_, lane_events_);
  lane_events_.clear();
}

/// The line "Steps" is derived from the markers, so it counts only where the trace has no marker of its own.
void ChromeReading::keep_derived_step(const Place& place, const JsonEvent& event, Picoseconds start,
                                      Picoseconds duration) {
  if (const char* const fault = time_fault(start, duration)) {
    builder_.trace().loss.add(fault);
    return builder_.count_other(1);
  }
  LaneEvent step;
  step.kind = EventKind::step;
  step.start = start;
  step.duration = duration;
  step.id =
      static_cast<std::uint64_t>(parse_integer(event.name).value_or(static_cast<std::int64_t>(derived_steps_.size())));
  derived_steps_.emplace_back(lane_of(place), step);
}

void ChromeReading::add_derived_steps() {
  if (has_markers_) return builder_.count_other(derived_steps_.size());
  std::stable_sort(derived_steps_.begin(), derived_steps_.end(),
                   [](const auto& a, const auto& b) { return a.second.start < b.second.start; });
  for (const auto& step : derived_steps_) hand_on(step.first, step.second);
  flush();
}

Trace ChromeReading::finish() {
  add_derived_steps();
  std::uint64_t unpaired = 0;
  for (const auto& open : begun_) unpaired += open.second.size();
  if (unpaired > 0) builder_.trace().loss.add("events_unpaired", unpaired);
  for (const ChromeThread* thread : kept_threads_) builder_.name_lane(*thread->lane, thread->name);
  Trace trace = builder_.finish();
  trace.queue = queue_.finish();
  if (tracker_) trace.attribute_tracks = tracker_->finish();
  trace.devices = threads_.accelerators();
  trace.hosts = threads_.hosts();
  trace.origin_ns = origin_.nanoseconds();
  return trace;
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

Result<Trace> read_chrome_json(ByteSource& source, const WorkOptions& work, const ReadOptions& read_options) {
  ChromeThreads threads;
  auto order = TraceBuilder::Order::sorted;
  while (true) {
    JsonReadOptions options;
    options.work = work;
    JsonEventReader reader(source, options);
    ChromeReading reading(threads, order, read_options);
    while (const JsonEventBatch* batch = reader.next()) {
      reading.add(*batch);
      if (work.progress != nullptr) work.progress->event_count = reading.phase_count();
    }
    const JsonDocument& document = reader.document();
    if (reading.saw_disorder() || threads.came_too_late()) {
      if (reading.saw_disorder()) order = TraceBuilder::Order::any;
      threads.begin_again();
      if (const Result<void> rewound = source.rewind(); !rewound) return Unexpected(rewound.error());
      continue;
    }
    if (auto error = reason_not_a_trace(document, source, reading.phase_count(), reading.other_count())) {
      return Unexpected(std::move(*error));
    }
    Trace trace = reading.finish();
    add_document_loss(document, source, trace.event_count, trace.loss);
    return trace;
  }
}

}  // namespace doctor
