#include "trace/xspace_events.h"

#include <algorithm>

namespace doctor {
namespace {

// Field numbers of XEvent and XStat, see xspace.proto.
constexpr std::uint32_t kMetadataId = 1;
constexpr std::uint32_t kOffset = 2;
constexpr std::uint32_t kDuration = 3;
constexpr std::uint32_t kStat = 4;

/// What the statistics of one event say. Iterators have all of them; of the rest only ids.
struct EventStats {
  std::optional<std::uint64_t> id;
  std::optional<std::uint64_t> parent_id;
  bool has_step_number = false;
  std::int64_t step_number = 0;
  std::uint64_t element_id = 0;
  WireField dataset_name;
  std::vector<RawStat> attributes;
};

class WindowDecoder {
 public:
  explicit WindowDecoder(DecodedEvents& decoded) : decoded_(decoded) {}

  void decode(const LinePart& line, std::string_view bytes);

 private:
  void add_event(const LinePart& line, std::string_view bytes);
  bool decode_event(const PlaneNames& plane, WireMessage message, const EventName& name, LaneEvent& event);
  bool decode_stat(const PlaneNames& plane, std::string_view bytes, EventKind kind);
  void take_stat(const StatName& stat, const WireField& value, EventKind kind);
  std::uint32_t see_instance(const PlaneNames& plane, const EventName& name, Picoseconds start);

  DecodedEvents& decoded_;
  EventStats stats_;
};

/// The latest value of each attribute is kept. Events of an instance carry their attributes in one order, so the
/// place where one was is looked at first.
void keep_latest(std::vector<RawStat>& kept, const std::vector<RawStat>& attributes) {
  std::size_t expected = 0;
  for (const RawStat& attribute : attributes) {
    if (expected < kept.size() && kept[expected].stat != attribute.stat) {
      const auto found =
          std::find_if(kept.begin(), kept.end(), [&](const RawStat& other) { return other.stat == attribute.stat; });
      expected = static_cast<std::size_t>(found - kept.begin());
    }
    if (expected == kept.size()) {
      kept.push_back(attribute);
    } else if (attribute.seen >= kept[expected].seen) {
      kept[expected] = attribute;
    }
    ++expected;
  }
}

void WindowDecoder::decode(const LinePart& line, std::string_view bytes) {
  WireMessage events(bytes);
  for (WireField event; events.next(event);) add_event(line, event.bytes());
  if (decoded_.runs.empty() ? !decoded_.events.empty() : decoded_.runs.back().end != decoded_.events.size()) {
    decoded_.runs.push_back({&line, decoded_.events.size()});
  }
}

void WindowDecoder::add_event(const LinePart& line, std::string_view bytes) {
  // The metadata id comes first in practice; an event without one has no name.
  WireMessage message(bytes);
  WireField field;
  const bool has_name = message.next(field) && field.field() == kMetadataId;
  const EventName* const found = line.plane->events.find(has_name ? field.number : 0);
  const EventName name = found == nullptr ? EventName{} : *found;
  if (name.kind == EventKind::other && !line.plane->has_step_numbers) {
    ++decoded_.other_events;
    return;
  }
  LaneEvent event;
  if (!decode_event(*line.plane, has_name ? message : WireMessage(bytes), name, event)) {
    return decoded_.loss.add("events_malformed");
  }
  event.start += line.line_start;
  const char* const fault = event.kind == EventKind::other ? nullptr : time_fault(event.start, event.duration);
  if (fault != nullptr) decoded_.loss.add(fault);
  if (fault != nullptr || event.kind == EventKind::other) {
    ++decoded_.other_events;
    return;
  }
  if (event.kind == EventKind::iterator) event.subject = see_instance(*line.plane, name, event.start);
  decoded_.events.push_back(event);
}

bool WindowDecoder::decode_event(const PlaneNames& plane, WireMessage message, const EventName& name,
                                 LaneEvent& event) {
  stats_.id.reset();
  stats_.has_step_number = false;
  stats_.element_id = 0;
  if (name.kind == EventKind::iterator) {
    stats_.parent_id.reset();
    stats_.dataset_name = {};
    stats_.attributes.clear();
  }
  for (WireField field; message.next(field);) {
    if (field.is(kStat, WireType::bytes)) {
      if (!decode_stat(plane, field.bytes(), name.kind)) return false;
    } else if (field.is(kOffset, WireType::varint)) {
      event.start = field.as_signed();
    } else if (field.is(kDuration, WireType::varint)) {
      event.duration = field.as_signed();
    }
  }
  if (message.is_damaged()) return false;
  // An offset beyond the range of a trace must not wrap around when the line's start is added.
  event.start = std::clamp(event.start, 2 * PackedSpan::kMinStart, 2 * PackedSpan::kMaxStart);
  event.name_length = name.length;
  event.kind = name.kind;
  event.id = stats_.id.value_or(0);
  if (name.kind == EventKind::produce || name.kind == EventKind::consume) event.id = stats_.element_id;
  if (name.kind == EventKind::op) event.subject = static_cast<std::uint32_t>(index_of(name.subject));
  if (name.kind == EventKind::other && stats_.has_step_number) {
    // Whatever its name: user code names its steps.
    event.kind = EventKind::step;
    event.id = static_cast<std::uint64_t>(stats_.step_number);
  }
  return true;
}

bool WindowDecoder::decode_stat(const PlaneNames& plane, std::string_view bytes, EventKind kind) {
  WireMessage message(bytes);
  const StatName* stat = nullptr;
  for (WireField field; message.next(field);) {
    if (field.field() == kMetadataId) {
      stat = plane.stats.find(field.number);
      if (stat != nullptr && stat->role == StatRole::unused) return true;
    } else if (stat != nullptr) {
      take_stat(*stat, field, kind);
    }
  }
  return !message.is_damaged();
}

void WindowDecoder::take_stat(const StatName& stat, const WireField& value, EventKind kind) {
  switch (stat.role) {
    case StatRole::id:
      stats_.id = value.number;
      break;
    case StatRole::parent_id:
      stats_.parent_id = value.number;
      break;
    case StatRole::element_id:
      stats_.element_id = value.number;
      break;
    case StatRole::step_number:
      stats_.has_step_number = true;
      stats_.step_number = value.as_signed();
      break;
    case StatRole::dataset_name:
      if (kind == EventKind::iterator) stats_.dataset_name = value;
      break;
    case StatRole::attribute:
      if (kind == EventKind::iterator) stats_.attributes.push_back({&stat, value, 0});
      break;
    case StatRole::unused:
      break;
  }
}

std::uint32_t WindowDecoder::see_instance(const PlaneNames& plane, const EventName& name, Picoseconds start) {
  bool is_new = false;
  const InstanceKey key{name.subject, stats_.id.value_or(0), stats_.parent_id.value_or(0)};
  const std::uint32_t index = decoded_.instances.find(plane, key, is_new);
  RawSighting& instance = decoded_.instances[index];
  if (is_new) {
    instance.id = stats_.id;
    instance.parent_id = stats_.parent_id;
    instance.dataset_name = stats_.dataset_name;
    instance.first_start = instance.last_start = start;
  }
  instance.first_start = std::min(instance.first_start, start);
  instance.last_start = std::max(instance.last_start, start);
  ++instance.event_count;
  for (RawStat& attribute : stats_.attributes) attribute.seen = start;
  keep_latest(instance.attributes, stats_.attributes);
  return index;
}

}  // namespace

std::uint32_t SightingTable::find(const PlaneNames& plane, const InstanceKey& key, bool& is_new) {
  Recent& recent = recent_[InstanceKeyHash()(key) % recent_.size()];
  is_new = false;
  if (recent.index != kNoRow && recent.key == key) return recent.index;
  const auto [place, was_added] = indices_.try_emplace(key, static_cast<std::uint32_t>(sightings_.size()));
  is_new = was_added;
  if (is_new) {
    RawSighting& added = sightings_.emplace_back();
    added.plane = &plane;
    added.long_name = key.long_name;
  }
  recent = {key, place->second};
  return place->second;
}

void SightingTable::clear() {
  sightings_.clear();
  indices_.clear();
  recent_.fill({});
}

void decode_events(const EventWindow& window, DecodedEvents& decoded) {
  decoded.events.clear();
  decoded.runs.clear();
  decoded.instances.clear();
  decoded.other_events = window.other_events;
  decoded.loss = window.loss;
  WindowDecoder decoder(decoded);
  for (const LinePart& line : window.parts) decoder.decode(line, window.bytes_of(line));
}

}  // namespace doctor
