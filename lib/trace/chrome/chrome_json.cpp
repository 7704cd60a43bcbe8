#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/attribute_tracks.h"
#include "trace/chrome/chrome_arguments.h"
#include "trace/chrome/chrome_events.h"
#include "trace/chrome/chrome_threads.h"
#include "trace/chrome/json_events.h"
#include "trace/chrome/json_text.h"
#include "trace/format.h"
#include "trace/queue_sample.h"
#include "trace/trace_builder.h"

// Chrome traces as the TensorFlow profiler wrote them up to TF 2.10 and as XProf converts them today. Format:
// tensorflow/core/profiler/convert/trace_events_to_json.cc; the trace viewer's own "Trace Event Format".

namespace doctor {
namespace {

/// One reading of a document, from its first event to its last.
class ChromeReading {
 public:
  ChromeReading(ChromeThreads& threads, TraceBuilder::Order order, const ReadOptions& options)
      : threads_(threads), builder_(order) {
    if (options.attribute_history) tracker_.emplace(order == TraceBuilder::Order::sorted);
  }

  void add(const JsonEventBatch& batch);
  bool saw_disorder() const { return builder_.saw_disorder(); }
  const ChromeDecoder<ChromeReading>& decoder() const { return decoder_; }
  Trace finish(const WorkOptions& work);

  // What the decoder hands on.
  void take(const ChromeEvent& event);
  void take_metadata(const JsonEvent& event) { threads_.take_metadata(event); }
  void lose(const char* reason, std::uint64_t count) { builder_.trace().loss.add(reason, count); }
  void leave_out(const char* /*reason*/) {}  // it lasts no time on a thread

 private:
  ChromeName* understand(const ChromeEvent& event, LaneEvent& kept);
  InstanceId see_instance(StringId long_name, const ChromeArguments& arguments, Picoseconds start);
  void hand_on(LaneId lane, const LaneEvent& event);
  void flush();
  void keep_derived_step(ChromeThread& thread, const ChromeEvent& event);
  void add_derived_steps();
  void drop(const char* fault);
  void note_framework(std::string_view framework);
  LaneId lane_of(ChromeThread& thread);

  ChromeThreads& threads_;
  TraceBuilder builder_;
  QueueSampler queue_;
  std::optional<AttributeTracker> tracker_;  ///< where histories are wanted
  ChromeArgumentDecoder arguments_;
  ChromeNames names_;
  RecentStrings dataset_names_;
  TimeOrigin origin_;
  ChromeDecoder<ChromeReading> decoder_{*this, origin_};
  std::vector<ChromeThread*> kept_threads_;
  std::vector<std::pair<LaneId, LaneEvent>> derived_steps_;
  std::vector<LaneEvent> lane_events_;  ///< of `lane_`, not yet with the builder
  LaneId lane_{};
  std::vector<SeenAttribute> attributes_;
  bool has_markers_ = false;
};

void ChromeReading::add(const JsonEventBatch& batch) {
  for (const JsonEvent& event : batch.events) {
    if (threads_.is_recorded(event)) decoder_.take(event, batch);
  }
  flush();
}

LaneId ChromeReading::lane_of(ChromeThread& thread) {
  if (thread.lane == kNoLane) {
    thread.lane = builder_.add_lane();
    if (thread.lane == kNoLane) return kNoLane;
    builder_.name_lane(thread.lane, thread.name());
    kept_threads_.push_back(&thread);
  }
  return thread.lane;
}

/// Counts an event that would be kept but for its times.
void ChromeReading::drop(const char* fault) {
  builder_.trace().loss.add(fault);
  builder_.count_other(1);
}

/// Any event of one tells.
void ChromeReading::note_framework(std::string_view framework) {
  std::string& known = builder_.trace().framework;
  if (known.empty()) known = framework;
}

/// Fills in what the names and arguments of an event make of it. The name that counts, null where it is only counted.
ChromeName* ChromeReading::understand(const ChromeEvent& event, LaneEvent& kept) {
  ChromeName* name = &names_.find(event.name);
  kept.kind = name->kind;
  kept.name_length = name->length;
  const std::string_view framework = name->framework;
  const ChromeArguments& arguments = arguments_.decode(event.arguments, kept.kind, builder_);
  if (is_for_second_reading(kept.kind)) {
    builder_.count_for_second_reading(1);
    return nullptr;
  }
  const bool may_have_long_name = kept.kind == EventKind::iterator || kept.kind == EventKind::other;
  if (may_have_long_name && !arguments.long_name.empty()) name = &names_.find(arguments.long_name);
  kept.id = arguments.id.value_or(0);
  if (kept.kind == EventKind::produce || kept.kind == EventKind::consume) kept.id = arguments.element_id.value_or(0);
  if (kept.kind == EventKind::other && name->kind == EventKind::op) kept.kind = EventKind::op;
  if (kept.kind != EventKind::other) {
    kept.name_length = name->length;
  } else if (arguments.step_number) {
    kept.kind = EventKind::step;
    kept.id = static_cast<std::uint64_t>(*arguments.step_number);
    has_markers_ = true;
  } else {
    note_framework(framework);
    return nullptr;
  }
  if (kept.kind == EventKind::next_frame) note_framework(framework);
  return name;
}

void ChromeReading::take(const ChromeEvent& event) {
  ChromeThread& thread = threads_.thread(event.process, event.thread);
  if (!thread.process->is_host || thread.is_derived) return builder_.count_other(1);
  if (thread.is_step_line) return keep_derived_step(thread, event);

  LaneEvent kept;
  kept.start = event.start;
  kept.duration = event.duration;
  ChromeName* const name = understand(event, kept);
  if (name == nullptr) return builder_.count_other(1);
  const ChromeArguments& arguments = arguments_.latest();
  if (has_subject(kept.kind) && kept.kind != EventKind::iterator) {
    kept.subject = static_cast<std::uint32_t>(ChromeNames::subject_of(*name, kept.kind, builder_));
  }
  if (const char* const fault = time_fault(event.start, event.duration)) return drop(fault);
  if (kept.kind == EventKind::region_queued) {
    if (arguments.closure != 0) queue_.queued(arguments.closure, event.start);
    return builder_.count_other(1);
  }
  const LaneId lane = lane_of(thread);
  if (lane == kNoLane) return builder_.lose_events_of_thread(1);
  if (kept.kind == EventKind::iterator) {
    const StringId long_name = ChromeNames::subject_of(*name, kept.kind, builder_);
    kept.subject = static_cast<std::uint32_t>(see_instance(long_name, arguments, event.start));
  }
  if (kept.kind == EventKind::region_start) {
    kept.id = arguments.closure;
    if (kept.id != 0) queue_.started(kept.id, event.start, lane);
  }
  if (tracker_ && kept.kind == EventKind::iterator) {
    tracker_->note(lane, static_cast<InstanceId>(kept.subject), event.start, arguments.attributes);
  }
  hand_on(lane, kept);
}

InstanceId ChromeReading::see_instance(StringId long_name, const ChromeArguments& arguments, Picoseconds start) {
  attributes_.clear();
  for (const Attribute& attribute : arguments.attributes) attributes_.push_back({attribute, start});
  InstanceSighting sighting;
  sighting.long_name = long_name;
  sighting.dataset_name = dataset_names_.intern(arguments.dataset_name, builder_.trace().strings);
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
void ChromeReading::keep_derived_step(ChromeThread& thread, const ChromeEvent& event) {
  if (const char* const fault = time_fault(event.start, event.duration)) return drop(fault);
  const LaneId lane = lane_of(thread);
  if (lane == kNoLane) return builder_.lose_events_of_thread(1);
  LaneEvent step;
  step.kind = EventKind::step;
  step.start = event.start;
  step.duration = event.duration;
  const auto number = parse_integer(event.name).value_or(static_cast<std::int64_t>(derived_steps_.size()));
  step.id = static_cast<std::uint64_t>(number);
  derived_steps_.emplace_back(lane, step);
}

void ChromeReading::add_derived_steps() {
  if (has_markers_) return builder_.count_other(derived_steps_.size());
  std::stable_sort(derived_steps_.begin(), derived_steps_.end(),
                   [](const auto& a, const auto& b) { return a.second.start < b.second.start; });
  for (const auto& step : derived_steps_) hand_on(step.first, step.second);
  flush();
}

Trace ChromeReading::finish(const WorkOptions& work) {
  add_derived_steps();
  decoder_.finish();
  for (const ChromeThread* thread : kept_threads_) builder_.name_lane(thread->lane, thread->name());
  Trace trace = builder_.finish(work);
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
      if (work.progress != nullptr) work.progress->event_count = reading.decoder().phase_count();
    }
    const JsonDocument& document = reader.document();
    if (reading.saw_disorder() || threads.came_too_late()) {
      if (reading.saw_disorder()) order = TraceBuilder::Order::any;
      threads.begin_again();
      if (const Result<void> rewound = source.rewind(); !rewound) return Unexpected(rewound.error());
      continue;
    }
    const std::uint64_t other_count = reading.decoder().other_count();
    if (auto error = reason_not_a_trace(document, source, reading.decoder().phase_count(), other_count)) {
      return Unexpected(std::move(*error));
    }
    Trace trace = reading.finish(work);
    add_document_loss(document, source, trace.event_count, trace.loss);
    const std::uint64_t metadata_count = reading.decoder().metadata_count();
    add_profiler_cut(source, reading.decoder().phase_count() - metadata_count, trace.loss);
    return trace;
  }
}

}  // namespace doctor
