#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "trace/event_kind.h"
#include "trace/format.h"
#include "trace/trace_builder.h"
#include "trace/wire.h"
#include "trace/xspace_names.h"

// XSpace (`*.xplane.pb`), the profiler's own format. Its schema is xspace.proto beside this file. The names of a
// plane's events follow the events in the file, so the file is walked twice: first over the names, skipping the lines,
// then over the lines, decoding only what the name of an event calls for.

namespace doctor {
namespace {

/// An event is a few hundred bytes; one that claims to be larger than this is damage.
constexpr std::uint64_t kLargestEvent = 16 << 20;

/// Reads one XSpace in two walks.
class XSpaceReader {
 public:
  XSpaceReader(ByteSource& source, TraceBuilder::Order order) : source_(source), builder_(order) {}

  Result<Trace> read();
  bool saw_disorder() const { return builder_.saw_disorder(); }

 private:
  enum class Walk { names, events };

  void walk(Walk which);
  void walk_plane(WireStream& stream, std::uint64_t end, Walk which, PlaneNames& plane);
  void walk_line(WireStream& stream, std::uint64_t end, PlaneNames& plane);
  void add_event(PlaneNames& plane, std::string_view bytes);
  bool decode_event(PlaneNames& plane, std::string_view bytes, const EventName& name, RawEvent& event);
  bool decode_stat(PlaneNames& plane, std::string_view bytes, RawEvent& event);
  Attribute to_attribute(PlaneNames& plane, StatName& stat, const WireField& value);
  StringId text_of(PlaneNames& plane, const WireField& value);
  StringId interned(StatName& stat);
  void start_line();
  void damage(const WireStream& stream, std::string_view what);

  Loss& loss() { return builder_.trace().loss; }

  ByteSource& source_;
  TraceBuilder builder_;
  std::vector<PlaneNames> planes_;  ///< in file order; filled by the first walk
  std::vector<Attribute> attributes_;

  // The line that is being walked.
  std::size_t plane_index_ = 0;
  std::uint64_t line_id_ = 0;
  std::string line_name_;
  std::int64_t line_timestamp_ns_ = 0;
  LaneId lane_{};
  bool line_has_lane_ = false;
  std::optional<std::int64_t> origin_ns_;  ///< timestamp of the first host line: all times are relative to it
  Picoseconds line_start_ = 0;
};

void XSpaceReader::damage(const WireStream& stream, std::string_view what) {
  if (stream.error()) {
    loss().add("input_cut_off");
    loss().notes.push_back(to_string(*stream.error()));
  } else {
    loss().add("messages_malformed");
    loss().notes.push_back(fmt::format("{}: {} at byte {}", source_.name(), what, stream.position()));
  }
}

void XSpaceReader::walk(Walk which) {
  WireStream stream(source_);
  std::size_t plane_count = 0;
  // Damage is reported by the walk over the names only: both meet the same bytes.
  const auto report = [&](std::string_view what) {
    if (which == Walk::names) damage(stream, what);
  };
  while (!stream.at_end()) {
    const std::optional<WireTag> tag = stream.read_tag();
    if (!tag) return report("the file is no longer an XSpace");
    const bool is_plane = tag->field == 1 && tag->type == WireType::bytes;
    const bool is_host_name = tag->field == 4 && tag->type == WireType::bytes && which == Walk::names;
    if (!is_plane && !is_host_name) {
      if (!stream.skip_value(*tag)) return report("the file ends inside a field");
      continue;
    }
    const std::optional<std::uint64_t> length = stream.read_number();
    if (!length || *length > UINT64_MAX - stream.position()) return report("a field has no valid length");
    const std::uint64_t end = stream.position() + *length;
    if (is_host_name) {
      const std::optional<std::string_view> name = stream.read_bytes(*length);
      if (!name) return report("the file ends inside a host name");
      builder_.trace().hosts.emplace_back(*name);
      continue;
    }
    if (which == Walk::names) planes_.emplace_back();
    plane_index_ = plane_count++;
    walk_plane(stream, end, which, planes_[plane_index_]);
    if (!stream.skip_to(end)) return report("the file ends inside a plane: it was cut off");
  }
  if (stream.error()) report("read error");
}

void XSpaceReader::walk_plane(WireStream& stream, std::uint64_t end, Walk which, PlaneNames& plane) {
  while (stream.position() < end && !stream.at_end()) {
    const std::optional<WireTag> tag = stream.read_tag();
    if (!tag) return which == Walk::names ? damage(stream, "a plane holds bytes that are no field") : void();
    if (tag->type != WireType::bytes) {
      if (!stream.skip_value(*tag)) return;
      continue;
    }
    const std::optional<std::uint64_t> length = stream.read_number();
    if (!length || *length > end - std::min(end, stream.position())) {
      return which == Walk::names ? damage(stream, "a field is longer than its plane") : void();
    }
    const std::uint64_t field_end = stream.position() + *length;
    if (which == Walk::names && (tag->field == 2 || tag->field == 4 || tag->field == 5)) {
      const std::optional<std::string_view> bytes = stream.read_bytes(*length);
      if (!bytes) return;
      if (tag->field == 2) plane.name = *bytes;
      if (tag->field == 4) add_event_name(plane, *bytes, builder_);
      if (tag->field == 5) add_stat_name(plane, *bytes);
    }
    if (which == Walk::events && tag->field == 3) walk_line(stream, field_end, plane);
    if (!stream.skip_to(field_end)) return;
  }
}

void XSpaceReader::start_line() {
  line_has_lane_ = true;
  lane_ = builder_.lane(plane_index_, line_id_);
  builder_.name_lane(lane_, line_name_);
  if (!origin_ns_) origin_ns_ = line_timestamp_ns_;
  // Epoch nanoseconds overflow as picoseconds, so only the difference is scaled; a line that is days away is kept out
  // of range for the builder to count.
  std::int64_t since_origin = 0;
  constexpr std::int64_t kFarAway = PackedSpan::kMaxStart / kPicosecondsPerNanosecond * 2;
  if (__builtin_sub_overflow(line_timestamp_ns_, *origin_ns_, &since_origin)) since_origin = kFarAway;
  line_start_ = std::clamp(since_origin, -kFarAway, kFarAway) * kPicosecondsPerNanosecond;
}

void XSpaceReader::walk_line(WireStream& stream, std::uint64_t end, PlaneNames& plane) {
  line_id_ = 0;
  line_name_.clear();
  line_timestamp_ns_ = 0;
  line_has_lane_ = false;
  std::uint64_t uncounted = 0;
  while (stream.position() < end && !stream.at_end()) {
    const std::optional<WireTag> tag = stream.read_tag();
    const std::optional<std::uint64_t> number =
        tag && (tag->type == WireType::varint || tag->type == WireType::bytes) ? stream.read_number() : std::nullopt;
    if (!number) {
      damage(stream, "a line holds bytes that are no field");
      break;
    }
    if (tag->type == WireType::varint) {
      if (tag->field == 1) line_id_ = *number;
      if (tag->field == 3) line_timestamp_ns_ = static_cast<std::int64_t>(*number);
      if (tag->field == 3 && line_has_lane_) loss().add("lines_with_late_timestamp");
      continue;
    }
    if (*number > end - std::min(end, stream.position())) {
      damage(stream, "an event is longer than its line");
      break;
    }
    const std::uint64_t field_end = stream.position() + *number;
    const bool is_event = tag->field == 4;
    const bool is_wanted = (is_event && plane.is_host()) || tag->field == 2;
    if (is_event && !plane.is_host()) ++uncounted;
    if (is_wanted && *number <= kLargestEvent) {
      const std::optional<std::string_view> bytes = stream.read_bytes(*number);
      if (!bytes) break;
      if (is_event) {
        add_event(plane, *bytes);
      } else {
        line_name_ = *bytes;
      }
    } else {
      if (is_wanted) loss().add("events_malformed");
      if (!stream.skip_to(field_end)) break;
    }
  }
  builder_.count_other(uncounted);
}

void XSpaceReader::add_event(PlaneNames& plane, std::string_view bytes) {
  // The metadata id comes first in practice; an event without one has no name.
  std::uint64_t metadata_id = 0;
  WireMessage peek(bytes);
  WireField field;
  if (peek.next(field) && field.field == 1) metadata_id = field.number;
  const EventName* found = plane.events.find(metadata_id);
  const EventName name = found == nullptr ? EventName{} : *found;
  if (name.kind == EventKind::other && !plane.has_step_numbers) return builder_.count_other(1);

  attributes_.clear();
  RawEvent event;
  if (!decode_event(plane, bytes, name, event)) return loss().add("events_malformed");
  if (event.kind == EventKind::other) return builder_.count_other(1);
  if (!line_has_lane_) start_line();
  event.start += line_start_;
  event.attributes = attributes_;
  builder_.add(lane_, event);
}

bool XSpaceReader::decode_event(PlaneNames& plane, std::string_view bytes, const EventName& name, RawEvent& event) {
  event.kind = name.kind;
  event.name = name.name;
  WireMessage message(bytes);
  for (WireField field; message.next(field);) {
    if (field.type == WireType::varint) {
      if (field.field == 2) event.start = field.as_signed();
      if (field.field == 3) event.duration = field.as_signed();
    } else if (field.field == 4 && field.type == WireType::bytes) {
      if (!decode_stat(plane, field.bytes, event)) return false;
    }
  }
  // An offset beyond the range of a trace must not wrap around when the line's start is added.
  event.start = std::clamp(event.start, 2 * PackedSpan::kMinStart, 2 * PackedSpan::kMaxStart);
  return !message.is_damaged();
}

bool XSpaceReader::decode_stat(PlaneNames& plane, std::string_view bytes, RawEvent& event) {
  WireMessage message(bytes);
  WireField field;
  StatName* stat = nullptr;
  while (message.next(field)) {
    if (field.field == 1) {
      stat = plane.stats.find(field.number);
      continue;
    }
    if (stat == nullptr || stat->role == StatRole::unused) continue;
    const bool is_iterator = event.kind == EventKind::iterator;
    switch (stat->role) {
      case StatRole::id:
        event.id = field.number;
        break;
      case StatRole::parent_id:
        event.parent_id = field.number;
        break;
      case StatRole::element_id:
        event.element_id = field.number;
        break;
      case StatRole::step_number:
        // Whatever its name: user code names its steps.
        if (event.kind == EventKind::other) event.kind = EventKind::step;
        event.step_number = field.as_signed();
        break;
      case StatRole::dataset_name:
        if (is_iterator) event.dataset_name = text_of(plane, field);
        break;
      case StatRole::attribute:
        if (is_iterator) attributes_.push_back(to_attribute(plane, *stat, field));
        break;
      case StatRole::unused:
        break;
    }
  }
  return !message.is_damaged();
}

Attribute XSpaceReader::to_attribute(PlaneNames& plane, StatName& stat, const WireField& value) {
  Attribute attribute;
  attribute.name = interned(stat);
  attribute.is_number = value.type != WireType::bytes && value.field != 7;
  if (!attribute.is_number) {
    attribute.text = text_of(plane, value);
  } else if (value.type == WireType::fixed64) {
    attribute.number = static_cast<std::int64_t>(std::clamp(value.as_double(), -9e18, 9e18));
  } else {
    attribute.number = value.as_signed();
  }
  return attribute;
}

StringId XSpaceReader::text_of(PlaneNames& plane, const WireField& value) {
  if (value.type == WireType::bytes) return builder_.intern(value.bytes);
  StatName* referred = value.field == 7 ? plane.stats.find(value.number) : nullptr;
  return referred == nullptr ? StringId{} : interned(*referred);
}

StringId XSpaceReader::interned(StatName& stat) {
  if (!stat.is_interned) {
    stat.text = builder_.intern(stat.name);
    stat.is_interned = true;
  }
  return stat.text;
}

Result<Trace> XSpaceReader::read() {
  walk(Walk::names);
  for (const PlaneNames& plane : planes_) {
    if (plane.is_device()) builder_.trace().devices.push_back(plane.name);
    if (plane.is_host() && plane.event_name_count == 0 && !loss().complete()) {
      loss().add("planes_without_names");
      loss().notes.push_back(
          fmt::format("{}: the events of plane {} have no names: they stand after the events, "
                      "where the file is cut off",
                      source_.name(), plane.name));
    }
  }
  if (const Result<void> again = source_.rewind(); !again) return Unexpected(again.error());
  walk(Walk::events);
  return builder_.finish();
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
    const WireType expected = field.field == 1 ? WireType::varint : WireType::bytes;
    if (field.field > 6 || field.type != expected) return false;
    if (field.field != 2) continue;
    return std::none_of(field.bytes.begin(), field.bytes.end(), [](char c) { return c >= 0 && c < ' '; });
  }
  return true;
}

Result<Trace> read_xspace(ByteSource& source, const WorkOptions& /*work*/) {
  for (const auto order : {TraceBuilder::Order::sorted, TraceBuilder::Order::any}) {
    if (const Result<void> start = source.rewind(); !start) return Unexpected(start.error());
    XSpaceReader reader(source, order);
    Result<Trace> trace = reader.read();
    if (!trace || !reader.saw_disorder()) return trace;
  }
  return fail("the events could not be put in order", source.name());
}

}  // namespace doctor
