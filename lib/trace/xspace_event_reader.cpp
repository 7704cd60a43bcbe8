#include <fmt/format.h>

#include <algorithm>
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

// Every event of an XSpace with all its statistics, in two walks like read_xspace(): names, then events.

namespace doctor {
namespace {

// Field numbers, see xspace.proto.
constexpr std::uint32_t kPlane = 1;
constexpr std::uint32_t kLineOfPlane = 3;
constexpr std::uint32_t kLineId = 1;
constexpr std::uint32_t kLineName = 2;
constexpr std::uint32_t kLineTimestamp = 3;
constexpr std::uint32_t kEventOfLine = 4;
constexpr std::uint32_t kLineDisplayName = 11;
constexpr std::uint32_t kMetadataId = 1;
constexpr std::uint32_t kOffset = 2;
constexpr std::uint32_t kDuration = 3;
constexpr std::uint32_t kStat = 4;
constexpr std::uint32_t kStatOfMetadata = 5;
constexpr std::uint32_t kSignedValue = 4;
constexpr std::uint32_t kReference = 7;

/// An entry of `event_metadata`.
struct EventMetadata {
  std::string name;
  std::string display_name;
  std::vector<std::string> stats;  ///< that every event of this name carries, in wire format
};

struct PlaneMetadata {
  EventPlane plane;
  MetadataTable<EventMetadata> events;
  MetadataTable<std::string> stats;
};

/// What stands before the events of a line.
struct LineHead {
  std::uint64_t id = 0;
  std::string name;
  std::string display_name;
  std::int64_t timestamp_ns = 0;
  bool has_events = false;
};

void take_line_field(const WireField& field, LineHead& head) {
  if (field.is(kLineId, WireType::varint)) head.id = field.number;
  if (field.is(kLineTimestamp, WireType::varint)) head.timestamp_ns = field.as_signed();
  if (field.is(kLineName, WireType::bytes)) head.name = field.bytes();
  if (field.is(kLineDisplayName, WireType::bytes)) head.display_name = field.bytes();
}

/// `bytes` may end inside a field: only the head of the line.
LineHead read_line_head(std::string_view bytes) {
  LineHead head;
  WireMessage message(bytes);
  for (WireField field; message.next(field);) {
    if (field.is(kEventOfLine, WireType::bytes)) head.has_events = true;
    if (head.has_events) return head;
    take_line_field(field, head);
  }
  // An event that does not fit into the head ends the message as damage does.
  head.has_events = message.is_damaged();
  return head;
}

/// The first walk.
class MetadataReader final : public PlaneVisitor {
 public:
  std::deque<PlaneMetadata> planes;  ///< in file order; lines point to them
  EventHeader header;

  void host_name(std::string_view name) override { header.hosts.emplace_back(name); }

  void begin_plane() override { planes.emplace_back().plane.index = planes.size() - 1; }

  void plane_name(std::string_view name) override {
    planes.back().plane.name = name;
    planes.back().plane.kind = kind_of_plane(name);
    if (planes.back().plane.kind == PlaneKind::device) header.devices.emplace_back(name);
  }

  void event_metadata(std::string_view entry) override {
    const auto [id, metadata] = read_map_entry(entry);
    EventMetadata& event = planes.back().events[id];
    WireMessage message(metadata);
    for (WireField field; message.next(field);) {
      if (field.is(2, WireType::bytes)) event.name = field.bytes();
      if (field.is(4, WireType::bytes)) event.display_name = field.bytes();
      if (field.is(kStatOfMetadata, WireType::bytes)) event.stats.emplace_back(field.bytes());
    }
  }

  void stat_metadata(std::string_view entry) override {
    const auto [id, metadata] = read_map_entry(entry);
    planes.back().stats[id] = read_metadata_name(metadata);
  }

  /// Times count from the first host line with events, as in read_xspace(); without any, from the first line with some.
  void line_head(std::string_view head) override {
    const LineHead line = read_line_head(head);
    if (!line.has_events) return;
    header.first_ns = has_origin_ ? std::min(header.first_ns, line.timestamp_ns) : line.timestamp_ns;
    const bool is_host = planes.back().plane.kind == PlaneKind::host;
    if (has_host_origin_ || (has_origin_ && !is_host)) return;
    header.origin_ns = line.timestamp_ns;
    has_origin_ = true;
    has_host_origin_ = is_host;
  }

 private:
  bool has_origin_ = false;
  bool has_host_origin_ = false;
};

/// The second walk.
class EventWalk {
 public:
  EventWalk(ByteSource& source, MetadataReader& metadata, EventSink& sink, WantedPlanes wanted, const WorkOptions& work)
      : source_(source),
        stream_(source, work.window_size),
        metadata_(metadata),
        sink_(sink),
        wanted_(wanted),
        work_(work) {}

  EventTotals walk();
  EventTotals totals;

 private:
  void walk_plane(PlaneMetadata& plane, std::uint64_t end);
  void walk_line(PlaneMetadata& plane, std::uint64_t end);
  void begin_line(PlaneMetadata& plane, const LineHead& head);
  void take_event(const PlaneMetadata& plane, std::string_view bytes);
  bool decode_event(const PlaneMetadata& plane, std::string_view bytes, TraceEvent& event);
  bool add_argument(const PlaneMetadata& plane, std::string_view stat);
  void add_encoded_arguments(std::string_view text);
  void damage(std::string_view what) { add_damage(stream_, source_.name(), what, totals.loss); }

  ByteSource& source_;
  WireStream stream_;
  MetadataReader& metadata_;
  EventSink& sink_;
  WantedPlanes wanted_;
  const WorkOptions& work_;
  std::deque<EventLine> lines_;
  Picoseconds line_start_ = 0;
  std::vector<EventArgument> arguments_;
};

EventTotals EventWalk::walk() {
  std::size_t plane_count = 0;
  while (!stream_.at_end() && plane_count < metadata_.planes.size() && !sink_.is_done()) {
    // Damage out here was told by the first walk, which met the same bytes.
    const std::optional<WireTag> tag = stream_.read_tag();
    if (!tag) break;
    if (tag->field != kPlane || tag->type != WireType::bytes) {
      if (!stream_.skip_value(*tag)) break;
      continue;
    }
    const std::optional<std::uint64_t> length = stream_.read_number();
    if (!length || *length > UINT64_MAX - stream_.position()) break;
    const std::uint64_t end = stream_.position() + *length;
    PlaneMetadata& plane = metadata_.planes[plane_count++];
    if (wanted_ == WantedPlanes::all || plane.plane.kind == PlaneKind::device) walk_plane(plane, end);
    if (!stream_.skip_to(end)) break;
  }
  return std::move(totals);
}

void EventWalk::walk_plane(PlaneMetadata& plane, std::uint64_t end) {
  while (stream_.position() < end && !stream_.at_end() && !sink_.is_done()) {
    const std::optional<WireTag> tag = stream_.read_tag();
    if (!tag) return;
    if (tag->type != WireType::bytes) {
      if (!stream_.skip_value(*tag)) return;
      continue;
    }
    const std::optional<std::uint64_t> length = stream_.read_number();
    if (!length || *length > end - std::min(end, stream_.position())) return;
    const std::uint64_t field_end = stream_.position() + *length;
    if (tag->field == kLineOfPlane) {
      const std::size_t known_lines = lines_.size();
      walk_line(plane, field_end);
      if (lines_.size() > known_lines) sink_.end_line(lines_.back());
    }
    if (!stream_.skip_to(field_end)) return;
    if (work_.progress != nullptr) {
      work_.progress->bytes_read = source_.stored_position();
      work_.progress->event_count = totals.event_count;
    }
  }
}

void EventWalk::walk_line(PlaneMetadata& plane, std::uint64_t end) {
  LineHead head;
  while (stream_.position() < end && !stream_.at_end()) {
    const std::optional<WireTag> tag = stream_.read_tag();
    WireField field;
    const std::optional<std::uint64_t> number =
        tag && (tag->type == WireType::varint || tag->type == WireType::bytes) ? stream_.read_number() : std::nullopt;
    if (!number) return damage("a line holds bytes that are no field");
    field.tag = tag->field << 3 | static_cast<std::uint32_t>(tag->type);
    field.number = *number;
    if (tag->type == WireType::bytes) {
      if (*number > end - std::min(end, stream_.position())) return damage("an event is longer than its line");
      const std::optional<std::string_view> bytes = stream_.read_bytes(*number);
      if (!bytes) return;  // the file ends here, which the first walk has told
      field.data = bytes->data();
    }
    if (!field.is(kEventOfLine, WireType::bytes)) {
      if (head.has_events && field.is(kLineTimestamp, WireType::varint)) totals.loss.add("lines_with_late_timestamp");
      take_line_field(field, head);
      continue;
    }
    if (!head.has_events) begin_line(plane, head);
    head.has_events = true;
    take_event(plane, field.bytes());
    if (sink_.is_done()) return;
  }
}

void EventWalk::begin_line(PlaneMetadata& plane, const LineHead& head) {
  EventLine& line = lines_.emplace_back();
  line.plane = &plane.plane;
  line.name = head.name.empty() ? head.display_name : head.name;
  line.kind = kind_of_line(line.name);
  line.id = head.id;
  line.index = lines_.size() - 1;
  line_start_ = time_since_origin(head.timestamp_ns, metadata_.header.origin_ns);
}

void EventWalk::take_event(const PlaneMetadata& plane, std::string_view bytes) {
  ++totals.event_count;
  TraceEvent event;
  event.line = &lines_.back();
  arguments_.clear();
  if (!decode_event(plane, bytes, event)) return totals.loss.add("events_malformed");
  event.start += line_start_;
  if (const char* const fault = time_fault(event.start, event.duration)) return totals.loss.add(fault);
  event.arguments = arguments_;
  sink_.take(event);
}

bool EventWalk::decode_event(const PlaneMetadata& plane, std::string_view bytes, TraceEvent& event) {
  const EventMetadata* metadata = nullptr;
  WireMessage message(bytes);
  for (WireField field; message.next(field);) {
    if (field.is(kMetadataId, WireType::varint)) metadata = plane.events.find(field.number);
    if (field.is(kOffset, WireType::varint)) event.start = field.as_signed();
    if (field.is(kDuration, WireType::varint)) event.duration = field.as_signed();
    if (field.is(kStat, WireType::bytes) && !add_argument(plane, field.bytes())) return false;
  }
  if (message.is_damaged()) return false;
  event.start = std::clamp(event.start, 2 * PackedSpan::kMinStart, 2 * PackedSpan::kMaxStart);
  if (metadata == nullptr) return true;
  event.name = metadata->name;
  event.short_name = metadata->display_name;
  for (const std::string& stat : metadata->stats) add_argument(plane, stat);
  const std::string_view plain = without_encoded_arguments(event.name);
  if (plane.plane.kind == PlaneKind::host && plain.size() < event.name.size()) {
    add_encoded_arguments(event.name.substr(plain.size() + 1));
    event.name = plain;
  }
  return true;
}

void EventWalk::add_encoded_arguments(std::string_view text) {
  text = text.substr(0, text.find('#'));
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    EventArgument& argument = arguments_.emplace_back();
    argument.name = pair.substr(0, equals);
    argument.text = pair.substr(equals + 1);
  }
}

bool EventWalk::add_argument(const PlaneMetadata& plane, std::string_view stat) {
  EventArgument argument;
  const std::string* name = nullptr;
  bool has_value = false;
  WireMessage message(stat);
  for (WireField field; message.next(field);) {
    if (field.is(kMetadataId, WireType::varint)) {
      name = plane.stats.find(field.number);
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
        const std::string* const referred = plane.stats.find(field.number);
        argument.type = ArgumentType::text;
        argument.text = referred == nullptr ? std::string_view{} : *referred;
        break;
      }
      default:
        return false;
    }
  }
  if (message.is_damaged()) return false;
  if (name == nullptr || name->empty() || !has_value) return true;
  argument.name = *name;
  arguments_.push_back(argument);
  return true;
}

}  // namespace

Result<EventTotals> read_xspace_events(ByteSource& source, EventSink& sink, WantedPlanes planes,
                                       const WorkOptions& work) {
  if (const Result<void> start = source.rewind(); !start) return Unexpected(start.error());
  MetadataReader metadata;
  Loss loss;
  walk_planes(source, work, metadata, loss);
  if (const Result<void> again = source.rewind(); !again) return Unexpected(again.error());
  sink.begin(metadata.header);
  EventWalk walk(source, metadata, sink, planes, work);
  walk.totals.loss = std::move(loss);
  return walk.walk();
}

}  // namespace doctor
