#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/ordered_work.h"
#include "text/numbers.h"
#include "trace/attribute_tracks.h"
#include "trace/event_kind.h"
#include "trace/format.h"
#include "trace/queue_sample.h"
#include "trace/trace_builder.h"
#include "trace/wire.h"
#include "trace/xspace/xspace_events.h"
#include "trace/xspace/xspace_names.h"
#include "trace/xspace/xspace_walk.h"
#include "trace/xspace/xspace_windows.h"
#include "trace/xspace/xspace_wire.h"

// XSpace (`*.xplane.pb`), the profiler's own format. Its schema is xspace.proto beside this file. The names of a
// plane's events follow the events in the file, so the file is walked twice: first over the names, skipping the lines,
// then over the lines, decoding only what the name of an event calls for.

namespace doctor {
namespace {

using namespace xspace_field;

/// The plane of a host's threads, of which the profiler writes one a host.
constexpr std::string_view kThreadsPlane = "/host:CPU";

/// Reads one XSpace in two walks.
class XSpaceReader {
 public:
  XSpaceReader(ByteSource& source, TraceBuilder::Order order, const WorkOptions& work, const ReadOptions& options)
      : source_(source), builder_(order), work_(work) {
    if (options.attribute_history) tracker_.emplace(order == TraceBuilder::Order::sorted);
  }

  Result<Trace> read();
  bool saw_disorder() const { return builder_.saw_disorder(); }

 private:
  /// A window on its way through the threads.
  struct WindowWork {
    EventWindow window;
    DecodedEvents decoded;
  };

  void read_names();
  void doubt_planes(const NameReader& names);
  void doubt_iterators(Trace& trace) const;
  void doubt_window(Trace& trace) const;
  void note_position();
  void read_events();
  void merge(DecodedEvents& decoded);
  InstanceId merge(const RawSighting& sighting);
  void pass_over(const DecodedEvents& decoded, const LineRun& line);
  void track(const DecodedEvents& decoded, const LineRun& line, LaneId lane);
  Attribute to_attribute(const PlaneNames& plane, const StatName& stat, const WireField& value);
  StringId text_of(const PlaneNames& plane, const WireField& value);

  Loss& loss() { return builder_.trace().loss; }

  ByteSource& source_;
  TraceBuilder builder_;
  WorkOptions work_;
  QueueSampler queue_;
  std::optional<AttributeTracker> tracker_;  ///< where histories are wanted
  std::size_t next_carried_ = 0;             ///< of the window that is merged, likewise next_attribute_
  std::size_t next_attribute_ = 0;
  std::vector<Attribute> carried_;
  std::vector<PlaneNames> planes_;  ///< in file order; filled by the first walk
  XSpaceClock clock_;
  std::int64_t recording_start_ = 0;
  Picoseconds recording_length_ = 0;
  std::vector<SeenAttribute> attributes_;
  std::vector<InstanceId> instances_;  ///< of the window that is merged, by their index in it
};

/// The first walk. Damage outside of lines is reported by it alone: both walks meet the same bytes.
void XSpaceReader::read_names() {
  NameReader names(builder_, planes_);
  clock_ = walk_planes(source_, work_, names, loss());
  recording_start_ = names.recording_start();
  recording_length_ = names.recording_length();
  doubt_planes(names);
}

void XSpaceReader::doubt_planes(const NameReader& names) {
  const std::vector<std::string> repeated = names.repeated_planes();
  for (const std::string& plane : repeated) {
    loss().add("planes_repeated");
    loss().notes.push_back(
        fmt::format("{}: the plane {} is there twice, so its times count twice: the file was appended "
                    "to another one, or to itself",
                    source_.name(), plane));
  }
  const std::size_t misnamed = names.misnamed_planes().size();
  if (misnamed > 0) {
    loss().add("planes_misnamed", misnamed);
    loss().notes.push_back(fmt::format("{}: {} a name that no profiler gives it: the file is damaged there",
                                       source_.name(), misnamed == 1 ? "a plane has" : "several planes have"));
  }
  const auto hosts = std::count_if(planes_.begin(), planes_.end(), [](const PlaneNames& plane) {
    return plane.name == kThreadsPlane && plane.event_name_count > 0;
  });
  const auto recorders = static_cast<std::ptrdiff_t>(source_.part_count());
  if (hosts > recorders && repeated.empty()) {
    loss().add("hosts_merged", static_cast<std::uint64_t>(hosts - 1));
    loss().notes.push_back(
        fmt::format("{}: holds the threads of {} hosts as if they were one: files were appended to one another. "
                    "Give each file by itself, or their folder",
                    source_.name(), hosts));
  }
}

/// A profiler lists a name when its first event comes, so that one without events tells of events that are gone.
void XSpaceReader::doubt_iterators(Trace& trace) const {
  std::unordered_set<StringId> seen;
  for (const IteratorInstance& instance : trace.instances) seen.insert(instance.long_name);
  std::uint64_t unseen = 0;
  for (const PlaneNames& plane : planes_) {
    for (const StringId name : plane.iterators) unseen += seen.contains(name) ? 0 : 1;
  }
  if (unseen == 0) return;
  trace.loss.add("iterators_without_events", unseen);
  trace.loss.notes.push_back(fmt::format("{}: lists {} without an event of {}: events are missing", source_.name(),
                                         format_count(unseen, "iterator"), unseen == 1 ? "it" : "them"));
}

/// Events of one recording lie within it. Of two that are joined each has a clock of its own.
void XSpaceReader::doubt_window(Trace& trace) const {
  // The profiler starts and ends its recorders one after another.
  constexpr Picoseconds kSlack = kPicosecondsPerSecond;
  const Picoseconds window = trace.window.end - trace.window.start;
  if (source_.part_count() > 1 || recording_length_ == 0 || window <= recording_length_ + kSlack) return;
  trace.loss.add("events_outside_recording");
  trace.loss.notes.push_back(fmt::format("{}: the recording took {}, and its events are spread over {}", source_.name(),
                                         format_time(recording_length_), format_time(window)));
}

void XSpaceReader::note_position() {
  if (work_.progress != nullptr) work_.progress->bytes_read = source_.stored_position();
}

/// The second walk: windows are decoded by several threads and merged in file order.
void XSpaceReader::read_events() {
  // Without a host's line nothing is decoded.
  const std::int64_t origin_ns = clock_.is_of_host ? clock_.origin_ns : 0;
  std::vector<PlaneUse> uses;
  for (const PlaneNames& plane : planes_) uses.push_back(plane.is_host() ? PlaneUse::decode : PlaneUse::count);
  XSpaceWindows windows(source_, std::move(uses), origin_ns, work_.window_size);
  const auto take = [&](WindowWork& item) {
    note_position();
    return windows.take(item.window);
  };
  const auto decode = [this](WindowWork& item) {
    decode_events(item.window, planes_, tracker_.has_value(), item.decoded);
  };
  OrderedWork<WindowWork, decltype(take), decltype(decode)> items(work_.threads, take, decode);
  while (WindowWork* item = items.next()) {
    merge(item->decoded);
    if (builder_.saw_disorder()) return;
    if (work_.progress != nullptr) work_.progress->event_count = builder_.trace().event_count;
  }
  builder_.trace().origin_ns = origin_ns;
  builder_.trace().recorded_ns = recording_start_;
}

void XSpaceReader::merge(DecodedEvents& decoded) {
  builder_.count_other(decoded.other_events);
  builder_.count_for_second_reading(decoded.compile_and_output_events);
  loss().add(decoded.loss);
  instances_.clear();
  for (const RawSighting& sighting : decoded.instances.sightings()) instances_.push_back(merge(sighting));
  // In the order of the file: ids may be used again.
  std::size_t next_queued = 0;
  const auto queue_before = [&](std::size_t place) {
    for (; next_queued < decoded.queued.size() && decoded.queued[next_queued].place <= place; ++next_queued) {
      queue_.queued(decoded.queued[next_queued].id, decoded.queued[next_queued].start);
    }
  };
  std::size_t begin = 0;
  next_carried_ = next_attribute_ = 0;
  for (const LineRun& run : decoded.runs) {
    const std::span<LaneEvent> events(decoded.events.data() + begin, run.end - begin);
    const LaneId lane = builder_.lane(run.line->plane, run.line->line_id);
    if (lane == kNoLane) {
      builder_.lose_events_of_thread(events.size());
      pass_over(decoded, run);
      begin = run.end;
      continue;
    }
    builder_.name_lane(lane, run.line->line_name);
    for (std::size_t index = 0; index < events.size(); ++index) {
      LaneEvent& event = events[index];
      if (event.kind == EventKind::iterator) {
        event.subject = static_cast<std::uint32_t>(index_of(instances_[event.subject]));
      } else if (event.kind == EventKind::region_start && event.id != 0) {
        queue_before(begin + index);
        queue_.started(event.id, event.start, lane);
      }
    }
    if (tracker_) track(decoded, run, lane);
    builder_.add(lane, events);
    begin = run.end;
  }
  queue_before(decoded.events.size());
}

/// Leaves the attributes of a line's events out.
void XSpaceReader::pass_over(const DecodedEvents& decoded, const LineRun& line) {
  while (next_carried_ < decoded.carried.size() && decoded.carried[next_carried_].event < line.end) {
    next_attribute_ = decoded.carried[next_carried_++].end;
  }
}

/// Hands on the attributes of a line's events, whose subjects are instances of the trace by now.
void XSpaceReader::track(const DecodedEvents& decoded, const LineRun& line, LaneId lane) {
  for (; next_carried_ < decoded.carried.size(); ++next_carried_) {
    const CarriedAttributes& carried = decoded.carried[next_carried_];
    if (carried.event >= line.end) return;
    const LaneEvent& event = decoded.events[carried.event];
    carried_.clear();
    for (; next_attribute_ < carried.end; ++next_attribute_) {
      const RawStat& raw = decoded.attributes[next_attribute_];
      carried_.push_back(to_attribute(planes_[line.line->plane], *raw.stat, raw.value));
    }
    tracker_->note(lane, static_cast<InstanceId>(event.subject), event.start, carried_);
  }
}

InstanceId XSpaceReader::merge(const RawSighting& sighting) {
  attributes_.clear();
  for (const RawStat& raw : sighting.attributes) {
    attributes_.push_back({to_attribute(*sighting.plane, *raw.stat, raw.value), raw.seen});
  }
  InstanceSighting merged;
  merged.long_name = sighting.long_name;
  merged.id = sighting.id;
  merged.parent_id = sighting.parent_id;
  merged.dataset_name = text_of(*sighting.plane, sighting.dataset_name);
  merged.first_start = sighting.first_start;
  merged.last_start = sighting.last_start;
  merged.event_count = sighting.event_count;
  merged.attributes = attributes_;
  return builder_.see(merged);
}

Attribute XSpaceReader::to_attribute(const PlaneNames& plane, const StatName& stat, const WireField& value) {
  Attribute attribute;
  attribute.name = builder_.intern(stat.name);
  attribute.is_number = value.type() != WireType::bytes && value.field() != kReference;
  if (!attribute.is_number) {
    attribute.text = text_of(plane, value);
  } else if (value.type() == WireType::fixed64) {
    const double real = value.as_double();
    attribute.number = std::isnan(real) ? 0 : static_cast<std::int64_t>(std::clamp(real, -9e18, 9e18));
  } else {
    attribute.number = value.as_signed();
  }
  return attribute;
}

StringId XSpaceReader::text_of(const PlaneNames& plane, const WireField& value) {
  if (value.type() == WireType::bytes) return builder_.intern(value.bytes());
  const StatName* const referred = value.field() == kReference ? plane.stats.find(value.number) : nullptr;
  return referred == nullptr ? StringId{} : builder_.intern(referred->name);
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

Result<Trace> XSpaceReader::read() {
  read_names();
  for (const PlaneNames& plane : planes_) {
    if (is_whole_device(plane.name)) builder_.trace().devices.push_back(plane.name);
    if (plane.is_host() && plane.event_name_count == 0 && !loss().complete()) {
      loss().add("planes_without_names");
      loss().notes.push_back(
          fmt::format("{}: the events of plane {} have no names: they stand after the events, "
                      "where the file is cut off",
                      source_.name(), plane.name));
    }
  }
  if (const Result<void> again = source_.rewind(); !again) return Unexpected(again.error());
  read_events();
  Trace trace = builder_.finish(work_);
  if (source_.part_count() > 1) drop_repeats(trace);
  doubt_iterators(trace);
  doubt_window(trace);
  trace.queue = queue_.finish();
  if (tracker_) trace.attribute_tracks = tracker_->finish();
  return trace;
}

}  // namespace

bool sniff_xspace(std::string_view head) {
  // An XSpace is a row of fields 1 to 4, all length-delimited. The first is a plane in practice; it begins with its id
  // or its name, which is text: the profiles of TF 1.14 to 2.1 (`local.trace`) have a message in that place.
  std::size_t position = 0;
  const std::optional<std::uint64_t> key = read_varint(head, position);
  const std::optional<WireTag> tag = key ? to_tag(*key) : std::nullopt;
  if (!tag || tag->type != WireType::bytes || tag->field > 4) return false;
  const std::optional<std::uint64_t> length = read_varint(head, position);
  if (!length) return false;
  if (tag->field != 1) return true;
  WireMessage plane(head.substr(position, std::min<std::uint64_t>(*length, head.size() - position)));
  for (WireField field; plane.next(field);) {
    const WireType expected = field.field() == 1 ? WireType::varint : WireType::bytes;
    if (field.field() > 6 || field.type() != expected) return false;
    if (field.field() != 2) continue;
    const std::string_view name = field.bytes();
    return std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < ' '; });
  }
  return true;
}

Result<Trace> read_xspace(ByteSource& source, const WorkOptions& work, const ReadOptions& options) {
  for (const auto order : {TraceBuilder::Order::sorted, TraceBuilder::Order::any}) {
    if (const Result<void> start = source.rewind(); !start) return Unexpected(start.error());
    XSpaceReader reader(source, order, work, options);
    Result<Trace> trace = reader.read();
    if (!trace || !reader.saw_disorder()) return trace;
  }
  return fail("the events could not be put in order", source.name());
}

}  // namespace doctor
