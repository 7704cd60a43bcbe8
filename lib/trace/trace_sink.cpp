#include "trace/trace_sink.h"

#include <fmt/format.h>

#include <unordered_set>

#include "text/numbers.h"
#include "trace/json_number.h"

namespace doctor {
namespace {

/// The groups of arguments that events of a kind use. Many others carry ids of closures, too.
constexpr ArgumentGroups groups_of_kind(EventKind kind) {
  switch (kind) {
    case EventKind::other:
      return TracePart::kStepNumber;
    case EventKind::iterator:
      return TracePart::kId | TracePart::kParentId | TracePart::kDatasetName | TracePart::kAttribute |
             TracePart::kRangedAttribute;
    case EventKind::captured_function:
    case EventKind::executor:
      return TracePart::kId;
    case EventKind::produce:
    case EventKind::consume:
      return TracePart::kElementId;
    case EventKind::region_queued:
    case EventKind::region_start:
      return TracePart::kClosure;
    case EventKind::next_frame:
    case EventKind::maker_frame:
      return TracePart::kDatasetName;
    default:
      return 0;
  }
}

/// The argument in which Grain describes the stage whose next() an event is.
constexpr std::string_view kStageName = "_ipl_stage_name";

bool is_about_elements(std::string_view argument) {
  return argument == kElementShapes || argument == kElementTypes;
}

/// Several profilers of one process name its host, and mark its steps, each for itself.
void drop_repeats(Trace& trace) {
  std::vector<std::string> hosts;
  for (std::string& host : trace.hosts) {
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(std::move(host));
  }
  trace.hosts = std::move(hosts);
  std::vector<StepMarker> steps;
  for (const StepMarker& step : trace.steps) {
    const bool is_repeat = !steps.empty() && steps.back().number == step.number && step.start < steps.back().end();
    if (is_repeat) {
      steps.back().duration = std::max(steps.back().end(), step.end()) - steps.back().start;
    } else {
      steps.push_back(step);
    }
  }
  trace.steps = std::move(steps);
}

}  // namespace

ArgumentGroups TraceSink::groups_of(std::string_view argument) const {
  if (argument == "id") return TracePart::kId;
  if (argument == "parent_id") return TracePart::kParentId;
  if (argument == "element_id") return TracePart::kElementId;
  if (argument == "step_num") return TracePart::kStepNumber;
  if (argument == "name" || argument == kStageName) return TracePart::kDatasetName;
  // The context ids of a TraceMeProducer and of its TraceMeConsumer (tsl/profiler/lib/connected_traceme.h).
  if (argument == "_p" || argument == "_c") return TracePart::kClosure;
  if (std::ranges::find(needs_.ranges_of, argument) != needs_.ranges_of.end()) return TracePart::kRangedAttribute;
  const bool is_kept = is_iterator_attribute(argument) || (needs_.element_types && is_about_elements(argument));
  return is_kept ? TracePart::kAttribute : ArgumentGroups{};
}

EventUse TraceSink::use_of(std::string_view name) {
  NameMeaning meaning{classify_event(name), name_length_of(name), {}};
  if (has_subject(meaning.kind)) meaning.subject = builder_->intern(subject_of_event(name, meaning.kind));
  if (meaning.kind == EventKind::iterator) listed_iterators_.push_back(meaning.subject);
  std::string& framework = builder_->trace().framework;
  if (framework.empty()) framework = framework_of_event(name);
  return {meaning.kind != EventKind::other, groups_of_kind(meaning.kind), meaning.packed()};
}

void TraceSink::take(const TraceEvent& event) {
  constexpr std::size_t kManyEvents = 2048;
  own_.take(event);
  if (own_.size() >= kManyEvents) join(own_);
}

bool TraceSink::begin_again() {
  const bool is_in_order = builder_ == nullptr || !builder_->saw_disorder();
  order_ = is_in_order ? order_ : TraceBuilder::Order::any;
  builder_ = std::make_unique<TraceBuilder>(order_);
  queue_ = {};
  if (needs_.attribute_history) tracker_.emplace(order_ == TraceBuilder::Order::sorted);
  own_.clear();
  own_.forget_instances();
  own_.carries_ = carried_events();
  lanes_.clear();
  named_.clear();
  derived_steps_.clear();
  listed_iterators_.clear();
  has_markers_ = false;
  return true;
}

LaneId TraceSink::lane_of(const EventLine& line) {
  if (line.index >= lanes_.size()) lanes_.resize(line.index + 1, kNoLane);
  LaneId& lane = lanes_[line.index];
  if (lane != kNoLane) return lane;
  lane = line.has_thread_id ? builder_->lane(line.plane->index, line.id) : builder_->add_lane();
  if (lane == kNoLane) return lane;
  builder_->name_lane(lane, line.name);
  named_.emplace_back(&line, lane);
  return lane;
}

InstanceId TraceSink::see(const PieceInstance& instance) {
  seen_.clear();
  for (const KeptArgument& kept : instance.attributes) seen_.push_back({to_attribute(kept), kept.seen});
  InstanceSighting sighting;
  sighting.long_name = instance.long_name;
  sighting.id = instance.id;
  sighting.parent_id = instance.parent_id;
  sighting.dataset_name = builder_->intern(instance.dataset_name);
  sighting.first_start = instance.first_start;
  sighting.last_start = instance.last_start;
  sighting.event_count = instance.event_count;
  sighting.attributes = seen_;
  return builder_->see(sighting);
}

Attribute TraceSink::to_attribute(const KeptArgument& argument) {
  Attribute attribute;
  attribute.name = builder_->intern(argument.name);
  attribute.range = argument.range;
  // Chrome traces have numbers as texts.
  const std::optional<std::int64_t> number =
      argument.is_text ? parse_integer(argument.text) : std::optional(argument.number);
  attribute.is_number = number.has_value();
  if (number) {
    attribute.number = *number;
  } else {
    attribute.text = builder_->intern(argument.text);
  }
  return attribute;
}

/// In the order of the file: ids may be used again.
void TraceSink::join(EventSink& joined) {
  auto& part = static_cast<TracePart&>(joined);
  builder_->count_for_second_reading(part.compile_and_output_count_);
  has_markers_ = has_markers_ || part.has_markers_;
  for (const std::string& setting : part.settings_) builder_->add_setting(setting);
  instances_.resize(part.instances_.size());
  for (const std::uint32_t index : part.met_) instances_[index] = see(part.instances_[index]);
  std::size_t begin = 0;
  std::size_t next_queued = 0;
  next_carried_ = 0;
  for (const TracePart::Run& run : part.runs_) {
    add_run(part, run, begin, next_queued);
    begin = run.end;
  }
  queue_until(part, begin, next_queued);
  part.clear();
}

/// Hands on what puts closures into queues before the event at `place`.
void TraceSink::queue_until(const TracePart& part, std::size_t place, std::size_t& next) {
  for (; next < part.queued_.size() && part.queued_[next].place <= place; ++next) {
    queue_.queued(part.queued_[next].id, part.queued_[next].start);
  }
}

void TraceSink::add_run(TracePart& part, const TracePart::Run& run, std::size_t begin, std::size_t& next_queued) {
  const std::span<LaneEvent> events(part.events_.data() + begin, run.end - begin);
  const LaneId lane = lane_of(*run.line);
  if (lane == kNoLane) {
    builder_->lose_events_of_thread(events.size());
    return track(part, run.end, lane);
  }
  if (run.line->kind == LineKind::steps) {
    for (LaneEvent& step : events) {
      if (step.kind == EventKind::other) step.id = derived_steps_.size();
      step.kind = EventKind::step;
      derived_steps_.emplace_back(lane, step);
    }
    return;
  }
  for (std::size_t index = 0; index < events.size(); ++index) {
    LaneEvent& event = events[index];
    if (event.kind == EventKind::iterator) {
      event.subject = static_cast<std::uint32_t>(index_of(instances_[event.subject]));
    } else if (event.kind == EventKind::region_start && event.id != 0) {
      queue_until(part, begin + index, next_queued);
      queue_.started(event.id, event.start, lane);
    }
  }
  if (tracker_) track(part, run.end, lane);
  builder_->add(lane, events);
}

/// Hands on the attributes of a line's events, whose subjects are instances of the trace by now; leaves them out where
/// there is no lane.
void TraceSink::track(const TracePart& part, std::size_t end, LaneId lane) {
  for (; next_carried_ < part.carried_.size() && part.carried_[next_carried_].event < end; ++next_carried_) {
    if (lane == kNoLane) continue;
    const TracePart::Carried& carried = part.carried_[next_carried_];
    const LaneEvent& event = part.events_[carried.event];
    attributes_.clear();
    for (std::size_t index = next_carried_ == 0 ? 0 : part.carried_[next_carried_ - 1].end; index < carried.end;
         ++index) {
      const KeptArgument& carried_argument = part.attributes_[index];
      if (!is_about_elements(carried_argument.name)) attributes_.push_back(to_attribute(carried_argument));
    }
    tracker_->note(lane, static_cast<InstanceId>(event.subject), event.start, attributes_);
  }
}

/// The line "Steps" is derived from the markers, so it counts only where the trace has no marker of its own.
void TraceSink::add_derived_steps() {
  if (has_markers_) return;
  std::stable_sort(derived_steps_.begin(), derived_steps_.end(),
                   [](const auto& a, const auto& b) { return a.second.start < b.second.start; });
  for (const auto& [lane, step] : derived_steps_) builder_->add(lane, std::span(&step, 1));
}

void TraceSink::end(const EventHeader& header) {
  join(own_);
  add_derived_steps();
  for (const auto& [line, lane] : named_) builder_->name_lane(lane, line->name);
  header_ = header;
}

/// A profiler lists a name when its first event comes, so that one without events tells of events that are gone.
void TraceSink::doubt_iterators(const ByteSource& source, Trace& trace) const {
  if (!header_.lists_names) return;
  std::unordered_set<StringId> seen;
  for (const IteratorInstance& instance : trace.instances) seen.insert(instance.long_name);
  std::uint64_t unseen = 0;
  for (const StringId name : listed_iterators_) unseen += seen.contains(name) ? 0 : 1;
  if (unseen == 0) return;
  trace.loss.add("iterators_without_events", unseen);
  trace.loss.notes.push_back(fmt::format("{}: lists {} without an event of {}: events are missing", source.name(),
                                         format_count(unseen, "iterator"), unseen == 1 ? "it" : "them"));
}

/// Events of one recording lie within it. Of two that are joined each has a clock of its own.
void TraceSink::doubt_window(const ByteSource& source, Trace& trace) const {
  // The profiler starts and ends its recorders one after another.
  constexpr Picoseconds kSlack = kPicosecondsPerSecond;
  const Picoseconds window = trace.window.end - trace.window.start;
  const Picoseconds length = header_.recording_length;
  if (source.part_count() > 1 || length == 0 || window <= length + kSlack) return;
  trace.loss.add("events_outside_recording");
  trace.loss.notes.push_back(fmt::format("{}: the recording took {}, and its events are spread over {}", source.name(),
                                         format_time(length), format_time(window)));
}

Trace TraceSink::finish(EventTotals totals, const ByteSource& source, const WorkOptions& work) {
  Trace trace = builder_->finish(work);
  totals.loss.add(trace.loss);
  trace.loss = std::move(totals.loss);
  trace.event_count = totals.timed_count;
  trace.hosts = std::move(header_.hosts);
  trace.devices = std::move(header_.devices);
  trace.origin_ns = header_.origin_ns;
  trace.recorded_ns = header_.recorded_ns;
  if (source.part_count() > 1) drop_repeats(trace);
  doubt_iterators(source, trace);
  doubt_window(source, trace);
  trace.queue = queue_.finish();
  if (tracker_) trace.attribute_tracks = tracker_->finish();
  return trace;
}

}  // namespace doctor
