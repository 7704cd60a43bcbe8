#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/event_reader.h"
#include "trace/format.h"
#include "trace/trace_builder.h"
#include "trace/wire.h"
#include "trace/xspace_names.h"
#include "trace/xspace_walk.h"
#include "trace/xspace_windows.h"
#include "trace/xspace_wire.h"

// Every event of an XSpace with all its statistics, in two walks like read_xspace(): names, then events.

namespace doctor {
namespace {

using namespace xspace_field;

/// A tag of one byte.
constexpr char tag_of(std::uint32_t field, WireType type) {
  return static_cast<char>(field << 3 | static_cast<std::uint32_t>(type));
}

/// An entry of `event_metadata`.
struct EventMetadata {
  std::size_t number = 0;  ///< over all planes, from 1
  std::string name;
  std::size_t plain_size = 0;  ///< of the name without_encoded_arguments()
  std::string display_name;
  std::vector<std::string> stats;  ///< that every event of this name carries, in wire format
};

/// An entry of `stat_metadata`.
struct StatMetadata {
  std::string name;
  bool is_wanted = false;  ///< of a host, see EventSink::wants()
};

struct PlaneMetadata {
  EventPlane plane;
  MetadataTable<EventMetadata> events;
  MetadataTable<StatMetadata> stats;

  bool wants(const StatMetadata& stat) const { return stat.is_wanted || plane.kind != PlaneKind::host; }
};

/// A statistic as profilers write it: its id, then one value.
struct UsualStat {
  std::uint64_t id = 0;
  char tag = 0;              ///< of the value
  std::uint64_t number = 0;  ///< the value; of bytes their length, and they end the statistic
};

/// False: it is something else, or damaged.
[[gnu::always_inline]] inline bool read_usual_stat(std::string_view bytes, UsualStat& stat) {
  const char* const end = bytes.data() + bytes.size();
  if (bytes.empty() || bytes.front() != tag_of(kMetadataId, WireType::varint)) return false;
  const ParsedVarint id = parse_varint(bytes.data() + 1, end);
  if (id.end == nullptr || id.end == end) return false;
  stat.id = id.value;
  stat.tag = *id.end;
  const ParsedVarint number = parse_varint(id.end + 1, end);
  stat.number = number.value;
  switch (stat.tag) {
    case tag_of(kUnsignedValue, WireType::varint):
    case tag_of(kSignedValue, WireType::varint):
    case tag_of(kReference, WireType::varint):
      return number.end == end;
    case tag_of(kText, WireType::bytes):
      return number.end != nullptr && number.value == static_cast<std::uint64_t>(end - number.end);
    default:
      return false;
  }
}

/// The first walk.
class MetadataReader final : public PlaneVisitor {
 public:
  explicit MetadataReader(const EventSink& sink) : sink_(sink) {}

  std::deque<PlaneMetadata> planes;  ///< in file order; lines point to them
  EventHeader header;

  void host_name(std::string_view name) override { header.hosts.emplace_back(name); }

  void begin_plane() override { planes.emplace_back().plane.index = planes.size() - 1; }

  void plane_name(std::string_view name) override {
    planes.back().plane.name = name;
    planes.back().plane.kind = kind_of_plane(name);
    if (is_whole_device(name)) header.devices.emplace_back(name);
  }

  void event_metadata(std::string_view entry) override {
    const auto [id, metadata] = read_map_entry(entry);
    EventMetadata& event = planes.back().events[id];
    if (event.number == 0) event.number = ++name_count_;
    WireMessage message(metadata);
    for (WireField field; message.next(field);) {
      if (field.is(kName, WireType::bytes)) event.name = field.bytes();
      if (field.is(kDisplayName, WireType::bytes)) event.display_name = field.bytes();
      if (field.is(kStatOfMetadata, WireType::bytes)) event.stats.emplace_back(field.bytes());
    }
    event.plain_size = without_encoded_arguments(event.name).size();
  }

  void stat_metadata(std::string_view entry) override {
    const auto [id, metadata] = read_map_entry(entry);
    const std::string_view name = read_metadata_name(metadata);
    planes.back().stats[id] = {std::string(name), sink_.wants(name)};
  }

 private:
  const EventSink& sink_;
  std::size_t name_count_ = 0;
};

/// The second walk.
class EventWalk {
 public:
  EventWalk(MetadataReader& metadata, EventSink& sink, EventTotals& totals)
      : metadata_(metadata), sink_(sink), totals_(totals) {}

  void take(const EventWindow& window);
  void finish() {
    if (!lines_.empty()) sink_.end_line(lines_.back());
  }

 private:
  void begin_line(const LinePart& part);
  void take_event(const PlaneMetadata& plane, Picoseconds line_start, std::string_view bytes);
  bool decode_event(const PlaneMetadata& plane, std::string_view bytes, TraceEvent& event);
  bool add_argument(const PlaneMetadata& plane, std::string_view stat);
  void add_usual_argument(const PlaneMetadata& plane, const StatMetadata& metadata, const UsualStat& stat,
                          const char* end);
  bool add_any_argument(const PlaneMetadata& plane, std::string_view stat);
  void add_encoded_arguments(std::string_view text);

  MetadataReader& metadata_;
  EventSink& sink_;
  EventTotals& totals_;
  std::deque<EventLine> lines_;
  std::vector<EventArgument> arguments_;
};

void EventWalk::take(const EventWindow& window) {
  for (const auto& [reason, count] : window.loss.counts) {
    totals_.loss.add(reason, count);
    if (reason == "events_malformed") totals_.event_count += count;
  }
  totals_.loss.notes.insert(totals_.loss.notes.end(), window.loss.notes.begin(), window.loss.notes.end());
  for (const LinePart& part : window.parts) {
    if (part.line == lines_.size()) begin_line(part);
    WireMessage events(window.bytes_of(part));
    for (WireField event; !sink_.is_done() && events.next(event);) {
      take_event(metadata_.planes[part.plane], part.line_start, event.bytes());
    }
  }
}

void EventWalk::begin_line(const LinePart& part) {
  finish();
  EventLine& line = lines_.emplace_back();
  line.plane = &metadata_.planes[part.plane].plane;
  line.name = part.line_name;
  line.kind = kind_of_line(*line.plane, line.name);
  line.id = part.line_id;
  line.index = part.line;
}

void EventWalk::take_event(const PlaneMetadata& plane, Picoseconds line_start, std::string_view bytes) {
  ++totals_.event_count;
  TraceEvent event;
  event.line = &lines_.back();
  arguments_.clear();
  if (!decode_event(plane, bytes, event)) return totals_.loss.add("events_malformed");
  event.start += line_start;
  if (const char* const fault = time_fault(event.start, event.duration)) return totals_.loss.add(fault);
  event.arguments = arguments_;
  sink_.take(event);
}

bool EventWalk::decode_event(const PlaneMetadata& plane, std::string_view bytes, TraceEvent& event) {
  WireMessage message(bytes);
  const EventMetadata* const metadata = plane.events.find(take_metadata_id(message));
  EventTimes times;
  const bool is_whole = read_event(
      message, times, [](WireMessage&) {}, [&](std::string_view stat) { return add_argument(plane, stat); });
  if (!is_whole) return false;
  event.start = times.offset;
  event.duration = times.duration;
  if (metadata == nullptr) return true;
  event.name = metadata->name;
  event.name_number = metadata->number;
  event.short_name = metadata->display_name;
  for (const std::string& stat : metadata->stats) add_argument(plane, stat);
  if (plane.plane.kind == PlaneKind::host && metadata->plain_size < event.name.size()) {
    add_encoded_arguments(event.name.substr(metadata->plain_size + 1));
    event.name = event.name.substr(0, metadata->plain_size);
  }
  return true;
}

void EventWalk::add_encoded_arguments(std::string_view text) {
  text = text.substr(0, text.find('#'));
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || !sink_.wants(pair.substr(0, equals))) continue;
    EventArgument& argument = arguments_.emplace_back();
    argument.name = pair.substr(0, equals);
    argument.text = pair.substr(equals + 1);
  }
}

/// False: it is damaged.
bool EventWalk::add_argument(const PlaneMetadata& plane, std::string_view stat) {
  UsualStat usual;
  if (!read_usual_stat(stat, usual)) return add_any_argument(plane, stat);
  const StatMetadata* const metadata = plane.stats.find(usual.id);
  if (metadata != nullptr && plane.wants(*metadata) && !metadata->name.empty()) {
    add_usual_argument(plane, *metadata, usual, stat.data() + stat.size());
  }
  return true;
}

void EventWalk::add_usual_argument(const PlaneMetadata& plane, const StatMetadata& metadata, const UsualStat& stat,
                                   const char* end) {
  EventArgument& argument = arguments_.emplace_back();
  argument.name = metadata.name;
  if (stat.tag == tag_of(kText, WireType::bytes)) {
    argument.text = {end - stat.number, stat.number};
    return;
  }
  argument.integer = static_cast<std::int64_t>(stat.number);
  argument.unsigned_integer = stat.number;
  if (stat.tag == tag_of(kReference, WireType::varint)) {
    if (const StatMetadata* const referred = plane.stats.find(stat.number)) argument.text = referred->name;
    return;
  }
  const bool is_signed = stat.tag == tag_of(kSignedValue, WireType::varint);
  argument.type = is_signed ? ArgumentType::integer : ArgumentType::unsigned_integer;
}

/// With fields in any order, some of which may be missing, or come again.
bool EventWalk::add_any_argument(const PlaneMetadata& plane, std::string_view stat) {
  EventArgument argument;
  const StatMetadata* metadata = nullptr;
  bool has_value = false;
  WireMessage message(stat);
  for (WireField field; message.next(field);) {
    if (field.is(kMetadataId, WireType::varint)) {
      metadata = plane.stats.find(field.number);
      continue;
    }
    has_value = true;
    switch (field.type()) {
      case WireType::bytes:
        argument.text = field.bytes();
        break;
      case WireType::fixed64:
        argument.type = ArgumentType::real;
        argument.real = field.as_double();
        break;
      case WireType::varint: {
        argument.type = field.field() == kSignedValue ? ArgumentType::integer : ArgumentType::unsigned_integer;
        argument.integer = field.as_signed();
        argument.unsigned_integer = field.number;
        if (field.field() != kReference) break;
        const StatMetadata* const referred = plane.stats.find(field.number);
        argument.type = ArgumentType::text;
        argument.text = referred == nullptr ? std::string_view{} : referred->name;
        break;
      }
      default:
        return false;
    }
  }
  if (message.is_damaged()) return false;
  if (metadata == nullptr || metadata->name.empty() || !plane.wants(*metadata) || !has_value) return true;
  argument.name = metadata->name;
  arguments_.push_back(argument);
  return true;
}

}  // namespace

Result<EventTotals> read_xspace_events(ByteSource& source, EventSink& sink, WantedPlanes planes,
                                       const WorkOptions& work) {
  if (const Result<void> start = source.rewind(); !start) return Unexpected(start.error());
  MetadataReader metadata(sink);
  EventTotals totals;
  const XSpaceClock clock = walk_planes(source, work, metadata, totals.loss);
  metadata.header.origin_ns = clock.origin_ns;
  metadata.header.first_ns = clock.first_ns;
  if (const Result<void> again = source.rewind(); !again) return Unexpected(again.error());
  sink.begin(metadata.header);
  std::vector<PlaneUse> uses;
  for (const PlaneMetadata& plane : metadata.planes) {
    const bool is_wanted = planes == WantedPlanes::all || plane.plane.kind == PlaneKind::device;
    uses.push_back(is_wanted ? PlaneUse::decode : PlaneUse::skip);
  }
  XSpaceWindows windows(source, std::move(uses), clock.origin_ns, work.window_size);
  EventWalk walk(metadata, sink, totals);
  for (EventWindow window; !sink.is_done() && windows.take(window);) {
    walk.take(window);
    if (work.progress == nullptr) continue;
    work.progress->bytes_read = source.stored_position();
    work.progress->event_count = totals.event_count;
  }
  walk.finish();
  return totals;
}

}  // namespace doctor
