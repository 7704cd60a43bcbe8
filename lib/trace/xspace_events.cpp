#include "trace/xspace_events.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "trace/xspace_usual_event.h"
#include "trace/xspace_wire.h"

namespace doctor {
namespace {

using namespace xspace_field;

/// What the statistics of one event say.
struct EventStats {
  std::optional<std::uint64_t> id;
  std::optional<std::uint64_t> parent_id;
  bool has_step_number = false;
  std::int64_t step_number = 0;
  std::uint64_t element_id = 0;
  std::uint64_t closure = 0;
  std::uint64_t signature = 0;  ///< see UnreadAttributes
};

class WindowDecoder {
 public:
  WindowDecoder(DecodedEvents& decoded, bool with_history) : decoded_(decoded), with_history_(with_history) {}

  void decode(const LinePart& line, const PlaneNames& plane, std::string_view bytes);

 private:
  void add_event(const PlaneNames& plane, Picoseconds line_start, std::string_view bytes);
  bool decode_event(const PlaneNames& plane, WireMessage message, const EventName& name, LaneEvent& event);
  bool decode_usual_event(const PlaneNames& plane, std::string_view rest, const EventName& name, LaneEvent& event);
  void finish_event(const EventName& name, const EventTimes& times, LaneEvent& event);
  void take_usual_stats(const PlaneNames& plane, WireMessage& message);
  bool take_number(StatRole role, std::string_view bytes, std::size_t size);
  bool decode_stat(const PlaneNames& plane, std::string_view bytes);
  bool wants_value(StatRole role, std::uint64_t id);
  void take_stat(StatRole role, const WireField& value);
  void note_attributes(const PlaneNames& plane, std::string_view event, Picoseconds start);
  std::uint32_t see_instance(const PlaneNames& plane, const EventName& name, std::string_view event, Picoseconds start);

  DecodedEvents& decoded_;
  bool with_history_;
  const char* readable_end_ = nullptr;  ///< of the bytes that hold the events of the line
  EventStats stats_;
  unsigned wanted_ = 0;  ///< roles of statistics whose values are read with the event that is decoded, as bits
};

constexpr unsigned kAlwaysWanted =
    bit_of(StatRole::id) | bit_of(StatRole::parent_id) | bit_of(StatRole::element_id) | bit_of(StatRole::step_number);

/// Calls `visit(StatName, value)` for the statistics of an event that have a role.
template <typename Visit>
void visit_stats(const PlaneNames& plane, std::string_view event, Visit visit) {
  WireMessage message(event);
  for (WireField field; message.next(field);) {
    if (!field.is(kStat, WireType::bytes)) continue;
    WireMessage stat(field.bytes());
    const StatName* name = nullptr;
    for (WireField part; stat.next(part);) {
      if (part.field() == kMetadataId) {
        name = plane.stats.find(part.number);
      } else if (name != nullptr && name->role != StatRole::unused) {
        visit(*name, part);
      }
    }
  }
}

/// Keeps the latest value of each attribute. Events of an instance carry their attributes in one order, so the place
/// after the last one is looked at first.
void read_attributes(RawSighting& instance) {
  if (instance.unread.event.empty()) return;
  std::vector<RawStat>& kept = instance.attributes;
  const Picoseconds seen = instance.unread.seen;
  std::size_t expected = 0;
  visit_stats(*instance.plane, instance.unread.event, [&](const StatName& stat, const WireField& value) {
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
  instance.unread = {};
}

void WindowDecoder::decode(const LinePart& line, const PlaneNames& plane, std::string_view bytes) {
  WireMessage events(bytes);
  readable_end_ = bytes.data() + bytes.size();
  for (WireField event; events.next(event);) add_event(plane, line.line_start, event.bytes());
  if (decoded_.runs.empty() ? !decoded_.events.empty() : decoded_.runs.back().end != decoded_.events.size()) {
    decoded_.runs.push_back({&line, decoded_.events.size()});
  }
}

void WindowDecoder::add_event(const PlaneNames& plane, Picoseconds line_start, std::string_view bytes) {
  WireMessage message(bytes);
  const EventName* const found = plane.events.find(take_metadata_id(message));
  const EventName name = found == nullptr ? EventName{} : *found;
  const bool is_for_later = is_for_second_reading(name.kind);
  if (is_for_later || (name.kind == EventKind::other && !plane.has_step_numbers)) {
    decoded_.compile_and_output_events += is_for_later ? 1 : 0;
    ++decoded_.other_events;
    return;
  }
  LaneEvent event;
  if (!decode_usual_event(plane, message.rest(), name, event) && !decode_event(plane, message, name, event)) {
    return decoded_.loss.add("events_malformed");
  }
  event.start += line_start;
  const char* const fault = event.kind == EventKind::other ? nullptr : time_fault(event.start, event.duration);
  if (fault != nullptr) decoded_.loss.add(fault);
  if (fault != nullptr || event.kind == EventKind::other) {
    ++decoded_.other_events;
    return;
  }
  if (event.kind == EventKind::region_queued) {
    if (event.id != 0) decoded_.queued.push_back({event.id, event.start, decoded_.events.size()});
    ++decoded_.other_events;
    return;
  }
  if (event.kind == EventKind::iterator) {
    event.subject = see_instance(plane, name, bytes, event.start);
    if (with_history_) note_attributes(plane, bytes, event.start);
  }
  decoded_.events.push_back(event);
}

/// Roles of statistics whose values are read with an event of this kind, as bits. Many others carry ids of closures,
/// too.
constexpr unsigned wanted_of(EventKind kind) {
  const bool wants_closure = kind == EventKind::region_queued || kind == EventKind::region_start;
  return kAlwaysWanted | (wants_closure ? bit_of(StatRole::closure) : 0);
}

bool WindowDecoder::decode_event(const PlaneNames& plane, WireMessage message, const EventName& name,
                                 LaneEvent& event) {
  stats_ = {};
  wanted_ = wanted_of(name.kind);
  EventTimes times;
  const bool is_whole = read_event(
      message, times, [&](WireMessage& rest) { take_usual_stats(plane, rest); },
      [&](std::string_view stat) { return decode_stat(plane, stat); });
  if (!is_whole) return false;
  finish_event(name, times, event);
  return true;
}

/// An event from its times, and from what its statistics say.
[[gnu::always_inline]] inline void WindowDecoder::finish_event(const EventName& name, const EventTimes& times,
                                                               LaneEvent& event) {
  event.start = times.offset;
  event.duration = times.duration;
  event.name_length = name.length;
  event.kind = name.kind;
  event.id = stats_.id.value_or(0);
  if (name.kind == EventKind::produce || name.kind == EventKind::consume) event.id = stats_.element_id;
  if (name.kind == EventKind::region_queued || name.kind == EventKind::region_start) event.id = stats_.closure;
  if (name.kind == EventKind::op || name.kind == EventKind::next_frame) {
    event.subject = static_cast<std::uint32_t>(index_of(name.subject));
  }
  if (name.kind == EventKind::other && stats_.has_step_number) {
    // Whatever its name: user code names its steps.
    event.kind = EventKind::step;
    event.id = static_cast<std::uint64_t>(stats_.step_number);
  }
}

/// The same of an event as profilers write it. False: it is not one, and nothing was taken.
[[gnu::always_inline]] inline bool WindowDecoder::decode_usual_event(const PlaneNames& plane, std::string_view rest,
                                                                     const EventName& name, LaneEvent& event) {
  UsualEvent usual;
  if (!read_usual_event(rest, readable_end_, plane.stat_roles, wanted_of(name.kind), usual)) return false;
  const UsualStats& stats = usual.stats;
  stats_ = {stats.find(StatRole::id),
            stats.find(StatRole::parent_id),
            stats.has(StatRole::step_number),
            static_cast<std::int64_t>(stats[StatRole::step_number]),
            stats[StatRole::element_id],
            stats[StatRole::closure],
            usual.signature};
  finish_event(name, usual.times, event);
  return true;
}

/// Whether the value of a statistic is read with each event. Of an attribute only the signature is noted for now.
inline bool WindowDecoder::wants_value(StatRole role, std::uint64_t id) {
  if (role == StatRole::attribute) stats_.signature = signature_with(stats_.signature, id);
  return (wanted_ & bit_of(role)) != 0;
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
  if (tag != (kUnsignedValue << 3) && tag != (kSignedValue << 3)) return false;
  const ParsedVarint number = parse_varint(bytes.data() + 1, bytes.data() + bytes.size());
  if (number.end != bytes.data() + size) return false;
  take_stat(role, {tag, number.value, nullptr});
  return true;
}

bool WindowDecoder::decode_stat(const PlaneNames& plane, std::string_view bytes) {
  WireMessage message(bytes);
  StatRole role = StatRole::unused;
  for (WireField field; message.next(field);) {
    if (field.field() != kMetadataId) {
      take_stat(role, field);
      continue;
    }
    role = plane.role_of_stat(field.number);
    if (!wants_value(role, field.number)) return true;
  }
  return !message.is_damaged();
}

void WindowDecoder::take_stat(StatRole role, const WireField& value) {
  switch (role) {
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
    case StatRole::closure:
      stats_.closure = value.number;
      break;
    case StatRole::dataset_name:
    case StatRole::attribute:
    case StatRole::unused:
      break;
  }
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
  const InstanceKey key{name.subject, stats_.id.value_or(0), stats_.parent_id.value_or(0)};
  const std::uint32_t index = decoded_.instances.find(plane, key, is_new);
  RawSighting& instance = decoded_.instances[index];
  if (is_new) {
    instance.id = stats_.id;
    instance.parent_id = stats_.parent_id;
    instance.first_start = instance.last_start = start;
    visit_stats(plane, event, [&](const StatName& stat, const WireField& value) {
      if (stat.role == StatRole::dataset_name) instance.dataset_name = value;
    });
  }
  instance.first_start = std::min(instance.first_start, start);
  instance.last_start = std::max(instance.last_start, start);
  ++instance.event_count;
  if (stats_.signature == instance.unread.signature && start < instance.unread.seen) return index;
  if (stats_.signature != instance.unread.signature) read_attributes(instance);
  instance.unread = {event, stats_.signature, start};
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
  for (RawSighting& instance : decoded.instances.sightings()) read_attributes(instance);
}

}  // namespace doctor
