#include "trace/xspace/xspace_events.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "trace/xspace/xspace_usual_event.h"
#include "trace/xspace/xspace_wire.h"

namespace doctor {
namespace {

using namespace xspace_field;

class WindowDecoder {
 public:
  WindowDecoder(DecodedEvents& decoded, bool with_history) : decoded_(decoded), with_history_(with_history) {}

  void decode(const LinePart& line, const PlaneNames& plane, std::string_view bytes);

 private:
  void add_event(const PlaneNames& plane, Picoseconds line_start, const EventHead& event);
  bool read_any_event(const PlaneNames& plane, WireMessage message, EventTimes& times);
  void take_usual_stats(const PlaneNames& plane, WireMessage& message);
  bool take_number(StatRole role, std::string_view bytes, std::size_t size);
  bool decode_stat(const PlaneNames& plane, std::string_view bytes);
  bool wants_value(StatRole role, std::uint64_t id);
  void note_attributes(const PlaneNames& plane, std::string_view event, Picoseconds start);
  std::uint32_t see_instance(const PlaneNames& plane, const EventName& name, std::string_view event, Picoseconds start);

  DecodedEvents& decoded_;
  bool with_history_;
  const char* readable_end_ = nullptr;  ///< of the bytes that hold the events of the line
  EventStats stats_;
  unsigned wanted_ = 0;  ///< roles of statistics that are looked at with the event that is decoded, as bits
  const PlaneNames* plane_of_bits_ = nullptr;
  RoleBits role_bits_;  ///< of that plane
};

/// The role of the statistic that is an event's LaneEvent::id.
constexpr StatRole id_role_of(EventKind kind) {
  switch (kind) {
    case EventKind::produce:
    case EventKind::consume:
      return StatRole::element_id;
    case EventKind::region_queued:
    case EventKind::region_start:
      return StatRole::closure;
    case EventKind::other:
      return StatRole::step_number;
    default:
      return StatRole::id;
  }
}

/// Roles of the statistics that are looked at with each event of this kind, as bits. Many others carry ids of closures,
/// too.
constexpr unsigned wanted_of(EventKind kind) {
  const unsigned of_iterators =
      bit_of(StatRole::parent_id) | bit_of(StatRole::dataset_name) | bit_of(StatRole::attribute);
  return bit_of(id_role_of(kind)) | (kind == EventKind::iterator ? of_iterators : 0);
}

/// Calls `visit(StatName, value)` for the statistics of an event that have a role. False: one of them has its name or
/// its value twice.
template <typename Visit>
bool visit_stats(const PlaneNames& plane, std::string_view event, Visit visit) {
  WireMessage message(event);
  for (WireField field; message.next(field);) {
    if (!field.is(kStat, WireType::bytes)) continue;
    WireMessage stat(field.bytes());
    const StatName* name = nullptr;
    std::uint32_t seen = 0;
    for (WireField part; stat.next(part);) {
      if (comes_again(field_or_value(part), kSingularOfStat, seen)) return false;
      if (part.field() == kMetadataId) {
        name = plane.stats.find(part.number);
      } else if (name != nullptr && name->role != StatRole::unused) {
        visit(*name, part);
      }
    }
  }
  return true;
}

/// Keeps the latest value of each attribute. Events of an instance carry their attributes in one order, so the place
/// after the last one is looked at first.
void read_attributes(RawSighting& instance, const UnreadAttributes& unread, Loss& loss) {
  if (unread.event.empty()) return;
  std::vector<RawStat>& kept = instance.attributes;
  const Picoseconds seen = unread.seen;
  std::size_t expected = 0;
  const bool is_sound = visit_stats(*instance.plane, unread.event, [&](const StatName& stat, const WireField& value) {
    if (stat.role != StatRole::attribute) return;
    if (expected >= kept.size() || kept[expected].stat != &stat) {
      const auto found =
          std::find_if(kept.begin(), kept.end(), [&](const RawStat& other) { return other.stat == &stat; });
      expected = static_cast<std::size_t>(found - kept.begin());
    }
    if (expected == kept.size()) {
      kept.push_back({&stat, value, seen});
    } else if (seen >= kept[expected].seen) {
      kept[expected] = {&stat, value, seen};
    }
    ++expected;
  });
  if (!is_sound) loss.add("events_malformed");
}

/// Notes the event as one whose attributes are to be read, unless a later one has the same.
void note_unread(RawSighting& instance, const UnreadAttributes& event, Loss& loss) {
  auto& [first, second] = instance.unread;
  UnreadAttributes* same = &second;
  if (first.event.empty() || first.signature == event.signature) {
    same = &first;
  } else if (!second.event.empty() && second.signature != event.signature) {
    read_attributes(instance, first, loss);
    first = second;
    second = {};
  }
  if (same->event.empty() || event.seen >= same->seen) *same = event;
}

void WindowDecoder::decode(const LinePart& line, const PlaneNames& plane, std::string_view bytes) {
  readable_end_ = bytes.data() + bytes.size();
  if (plane_of_bits_ != &plane) fill_role_bits(plane.stat_roles, role_bits_);
  plane_of_bits_ = &plane;
  const char* at = bytes.data();
  for (EventHead event; read_head(at, readable_end_, event);) {
    add_event(plane, line.line_start, event);
  }
  if (decoded_.runs.empty() ? !decoded_.events.empty() : decoded_.runs.back().end != decoded_.events.size()) {
    decoded_.runs.push_back({&line, decoded_.events.size()});
  }
}

[[gnu::always_inline]] inline void WindowDecoder::add_event(const PlaneNames& plane, Picoseconds line_start,
                                                            const EventHead& event) {
  static constexpr EventName kUnnamed;
  const EventName* const found = plane.events.find(event.metadata_id);
  const EventName& name = found == nullptr ? kUnnamed : *found;
  const EventKind kind = name.kind;
  const bool is_for_later = is_for_second_reading(kind);
  if (is_for_later || (kind == EventKind::other && !plane.has_step_numbers)) {
    decoded_.compile_and_output_events += is_for_later ? 1 : 0;
    ++decoded_.other_events;
    return;
  }
  EventTimes times;
  stats_.clear();
  wanted_ = wanted_of(kind);
  if (!read_usual_event(event.rest, readable_end_, role_bits_, wanted_, times, stats_) &&
      !read_any_event(plane, WireMessage(event.bytes), times)) {
    return decoded_.loss.add("events_malformed");
  }
  // Whatever the name of a step: user code names its steps.
  const bool is_kept = kind != EventKind::other || stats_.has(StatRole::step_number);
  const Picoseconds start = times.offset + line_start;
  const char* const fault = is_kept ? time_fault(start, times.duration) : nullptr;
  if (fault != nullptr) decoded_.loss.add(fault);
  if (fault != nullptr || !is_kept) {
    ++decoded_.other_events;
    return;
  }
  const std::uint64_t id = stats_[id_role_of(kind)];
  if (kind == EventKind::region_queued) {
    if (id != 0) decoded_.queued.push_back({id, start, decoded_.events.size()});
    ++decoded_.other_events;
    return;
  }
  auto subject = static_cast<std::uint32_t>(index_of(name.subject));
  if (kind == EventKind::iterator) {
    subject = see_instance(plane, name, event.bytes, start);
    if (with_history_) note_attributes(plane, event.bytes, start);
  }
  decoded_.events.push_back(
      {start, times.duration, id, subject, name.length, kind == EventKind::other ? EventKind::step : kind});
}

/// The times of an event, and what its statistics say, however it is written. False: it is damaged.
bool WindowDecoder::read_any_event(const PlaneNames& plane, WireMessage message, EventTimes& times) {
  stats_.clear();
  return read_event(
      message, times, [&](WireMessage& rest) { take_usual_stats(plane, rest); },
      [&](std::string_view stat) { return decode_stat(plane, stat); });
}

/// Whether the value of a statistic is read with each event. Of an attribute only the signature is noted for now.
inline bool WindowDecoder::wants_value(StatRole role, std::uint64_t id) {
  if (role != StatRole::attribute) return (wanted_ & bit_of(role)) != 0;
  stats_.add_attribute(id);
  return false;
}

/// Goes over the statistics as profilers write them, which is all of them in practice: tag, length, tag of the id, id,
/// in a byte each, then the value. Four of five are not wanted; of the others the value is a number. It stops at
/// anything else, for decode_stat().
inline void WindowDecoder::take_usual_stats(const PlaneNames& plane, WireMessage& message) {
  if constexpr (std::endian::native != std::endian::little) return;
  constexpr std::uint32_t kOneByteNumbers = 0x80ff'80ff;  // length and id have no second byte
  constexpr std::uint32_t kTags = (kStat << 3 | static_cast<std::uint32_t>(WireType::bytes)) |
                                  (kMetadataId << 3 | static_cast<std::uint32_t>(WireType::varint)) << 16;
  std::string_view rest = message.rest();
  for (std::uint32_t head = 0; rest.size() >= sizeof head;) {
    std::memcpy(&head, rest.data(), sizeof head);
    const std::size_t size = 2 + (head >> 8 & 0x7f);
    const std::uint32_t id = head >> 24;
    if ((head & kOneByteNumbers) != kTags || size < sizeof head || size > rest.size()) break;
    const StatRole role = plane.role_of_stat(id);
    if (wants_value(role, id) && !take_number(role, rest.substr(sizeof head), size - sizeof head)) break;
    rest.remove_prefix(size);
  }
  message.skip(message.rest().size() - rest.size());
}

/// Takes a value that is one number: a field of the next `size` bytes. What follows in `bytes` lets eight be read at
/// once. False: it is something else, and nothing was taken.
inline bool WindowDecoder::take_number(StatRole role, std::string_view bytes, std::size_t size) {
  if (size < 2) return false;
  const auto tag = static_cast<unsigned char>(bytes.front());
  if (tag != (kUnsignedValue << 3) && tag != (kSignedValue << 3) && tag != (kReference << 3)) return false;
  const ParsedVarint number = parse_varint(bytes.data() + 1, bytes.data() + bytes.size());
  if (number.end != bytes.data() + size) return false;
  stats_.add(role, number.value);
  return true;
}

bool WindowDecoder::decode_stat(const PlaneNames& plane, std::string_view bytes) {
  WireMessage message(bytes);
  StatRole role = StatRole::unused;
  std::uint32_t seen = 0;
  for (WireField field; message.next(field);) {
    if (comes_again(field_or_value(field), kSingularOfStat, seen)) return false;
    if (field.field() != kMetadataId) {
      const bool is_number = role != StatRole::dataset_name || field.field() == kReference;
      if (is_number && (wanted_ & bit_of(role)) != 0) stats_.add(role, field.number);
      continue;
    }
    role = plane.role_of_stat(field.number);
    if (!wants_value(role, field.number)) return true;
  }
  return !message.is_damaged();
}

/// Of the event that comes next in DecodedEvents::events.
void WindowDecoder::note_attributes(const PlaneNames& plane, std::string_view event, Picoseconds start) {
  visit_stats(plane, event, [&](const StatName& stat, const WireField& value) {
    if (stat.role == StatRole::attribute) decoded_.attributes.push_back({&stat, value, start});
  });
  decoded_.carried.push_back({decoded_.events.size(), decoded_.attributes.size()});
}

std::uint32_t WindowDecoder::see_instance(const PlaneNames& plane, const EventName& name, std::string_view event,
                                          Picoseconds start) {
  bool is_new = false;
  const InstanceKey key{name.subject, stats_[StatRole::id], stats_[StatRole::parent_id],
                        stats_[StatRole::dataset_name]};
  const std::uint32_t index = decoded_.instances.find(plane, key, is_new);
  RawSighting& instance = decoded_.instances[index];
  if (is_new) {
    instance.id = stats_.find(StatRole::id);
    instance.parent_id = stats_.find(StatRole::parent_id);
    instance.first_start = instance.last_start = start;
    visit_stats(plane, event, [&](const StatName& stat, const WireField& value) {
      if (stat.role == StatRole::dataset_name) instance.dataset_name = value;
    });
  }
  instance.first_start = std::min(instance.first_start, start);
  instance.last_start = std::max(instance.last_start, start);
  ++instance.event_count;
  note_unread(instance, {event, stats_.signature(), start}, decoded_.loss);
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

void decode_events(const EventWindow& window, std::span<const PlaneNames> planes, bool with_history,
                   DecodedEvents& decoded) {
  decoded.events.clear();
  decoded.runs.clear();
  decoded.instances.clear();
  decoded.carried.clear();
  decoded.attributes.clear();
  decoded.queued.clear();
  decoded.other_events = window.other_events;
  decoded.loss = window.loss;
  WindowDecoder decoder(decoded, with_history);
  for (const LinePart& line : window.parts) decoder.decode(line, planes[line.plane], window.bytes_of(line));
  for (RawSighting& instance : decoded.instances.sightings()) {
    for (const UnreadAttributes& unread : instance.unread) read_attributes(instance, unread, decoded.loss);
  }
}

}  // namespace doctor
