#pragma once

#include <algorithm>

#include "base/packed.h"
#include "base/time.h"
#include "trace/wire.h"
#include "trace/xspace/xspace_fields.h"

namespace doctor {

// The messages of an XSpace (`*.xplane.pb`) in wire format.

/// Field numbers, of the schema in xspace.proto beside this file.
namespace xspace_field {
inline constexpr std::uint32_t kPlane = message_fields::XSpace::planes;
inline constexpr std::uint32_t kHostName = message_fields::XSpace::hostnames;
// XPlane has no other fields between its name and its statistics.
inline constexpr std::uint32_t kPlaneName = message_fields::XPlane::name;
inline constexpr std::uint32_t kLine = message_fields::XPlane::lines;
inline constexpr std::uint32_t kEventMetadata = message_fields::XPlane::event_metadata;
inline constexpr std::uint32_t kStatMetadata = message_fields::XPlane::stat_metadata;
inline constexpr std::uint32_t kPlaneStat = message_fields::XPlane::stats;
inline constexpr std::uint32_t kLineId = message_fields::XLine::id;
inline constexpr std::uint32_t kLineName = message_fields::XLine::name;
inline constexpr std::uint32_t kLineTimestamp = message_fields::XLine::timestamp_ns;
inline constexpr std::uint32_t kEvent = message_fields::XLine::events;
inline constexpr std::uint32_t kLineDuration = message_fields::XLine::duration_ps;
inline constexpr std::uint32_t kLineDisplayId = message_fields::XLine::display_id;
inline constexpr std::uint32_t kLineDisplayName = message_fields::XLine::display_name;
inline constexpr std::uint32_t kMetadataId = message_fields::XEvent::metadata_id;
inline constexpr std::uint32_t kOffset = message_fields::XEvent::offset_ps;
inline constexpr std::uint32_t kDuration = message_fields::XEvent::duration_ps;
inline constexpr std::uint32_t kStat = message_fields::XEvent::stats;
inline constexpr std::uint32_t kOccurrences = message_fields::XEvent::num_occurrences;
inline constexpr std::uint32_t kUnsignedValue = message_fields::XStat::uint64_value;
inline constexpr std::uint32_t kSignedValue = message_fields::XStat::int64_value;
inline constexpr std::uint32_t kText = message_fields::XStat::str_value;
inline constexpr std::uint32_t kReference = message_fields::XStat::ref_value;
inline constexpr std::uint32_t kName = message_fields::XEventMetadata::name;
inline constexpr std::uint32_t kDisplayName = message_fields::XEventMetadata::display_name;
inline constexpr std::uint32_t kStatOfMetadata = message_fields::XEventMetadata::stats;
static_assert(message_fields::XStat::metadata_id == kMetadataId, "both begin with an id");
static_assert(message_fields::XStatMetadata::name == kName, "one reader reads the metadata of both");
}  // namespace xspace_field

/// An entry of a plane's `event_metadata` or `stat_metadata`: a map entry {key = 1, value = 2}, whose value is an
/// XEventMetadata or XStatMetadata.
struct MetadataEntry {
  std::uint64_t id = 0;
  std::string_view metadata;  ///< the value; empty if there is none
  std::string_view name;      ///< of the value, like the next two members
  std::string_view display_name;
  bool has_statistics = false;
  bool is_damaged = false;  ///< a singular field occurs twice: which of the two holds is not known
};

MetadataEntry read_metadata_entry(std::string_view entry);

/// Notes a field of a message. Returns true if it is a singular field (`singular` has their bits) that was met before:
/// no writer does that, so the message is damaged.
inline bool comes_again(std::uint32_t field, std::uint32_t singular, std::uint32_t& seen) {
  const std::uint32_t bit = field < 32 ? (1u << field) & singular : 0;
  const bool was_seen = (seen & bit) != 0;
  seen |= bit;
  return was_seen;
}

/// The metadata id of an event, wherever it stands; 0 if it has none.
std::uint64_t find_metadata_id(WireMessage event);

/// Takes the metadata id of an event. In practice it comes first; then `event` is moved over it.
[[gnu::always_inline]] inline std::uint64_t take_metadata_id(WireMessage& event) {
  WireMessage rest = event;
  WireField field;
  if (!rest.next(field) || !field.is(xspace_field::kMetadataId, WireType::varint)) return find_metadata_id(event);
  event = rest;
  return field.number;
}

struct EventTimes {
  Picoseconds offset = 0;  ///< since the start of the line
  Picoseconds duration = 0;
};

/// The times in an event's fields.
inline EventTimes event_times(std::uint64_t offset, std::uint64_t duration) {
  // A clamped offset: one beyond the range of a trace must not wrap around when the line's start is added.
  return {std::clamp(static_cast<Picoseconds>(offset), 2 * PackedSpan::kMinStart, 2 * PackedSpan::kMaxStart),
          static_cast<Picoseconds>(duration)};
}

/// Reads the times of a whole event. Its statistics go to `take_stat(bytes)`, which returns false if they are damaged.
/// False: the event is damaged.
template <typename TakeStat>
bool read_event(WireMessage event, EventTimes& times, TakeStat take_stat) {
  std::uint64_t offset = 0;
  std::uint64_t duration = 0;
  constexpr std::uint32_t kSingular = 1u << xspace_field::kMetadataId | 1u << xspace_field::kOffset |
                                      1u << xspace_field::kDuration | 1u << xspace_field::kOccurrences;
  std::uint32_t seen = 0;
  for (WireField field; event.next(field);) {
    if (field.is(xspace_field::kStat, WireType::bytes)) {
      if (!take_stat(field.bytes())) return false;
      continue;
    }
    if (comes_again(field.field(), kSingular, seen)) return false;
    if (field.is(xspace_field::kOffset, WireType::varint)) {
      offset = field.number;
    } else if (field.is(xspace_field::kDuration, WireType::varint)) {
      duration = field.number;
    }
  }
  times = event_times(offset, duration);
  return !event.is_damaged();
}

}  // namespace doctor
