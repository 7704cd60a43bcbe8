#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/packed.h"
#include "base/time.h"
#include "trace/wire.h"

namespace doctor {

// The messages of an XSpace (`*.xplane.pb`) in wire format, as far as both readers need them. The schema:
// tensorflow/tsl/profiler/protobuf/xplane.proto.

/// Field numbers.
namespace xspace_field {
// XSpace
inline constexpr std::uint32_t kPlane = 1;
inline constexpr std::uint32_t kHostName = 4;
// XPlane. It has no other fields between its name and its statistics.
inline constexpr std::uint32_t kPlaneName = 2;
inline constexpr std::uint32_t kLine = 3;
inline constexpr std::uint32_t kEventMetadata = 4;
inline constexpr std::uint32_t kStatMetadata = 5;
inline constexpr std::uint32_t kPlaneStat = 6;
// XLine
inline constexpr std::uint32_t kLineId = 1;
inline constexpr std::uint32_t kLineName = 2;
inline constexpr std::uint32_t kLineTimestamp = 3;
inline constexpr std::uint32_t kEvent = 4;
inline constexpr std::uint32_t kLineDuration = 9;
inline constexpr std::uint32_t kLineDisplayId = 10;
inline constexpr std::uint32_t kLineDisplayName = 11;
// XEvent, and XStat which begins with an id, too
inline constexpr std::uint32_t kMetadataId = 1;
inline constexpr std::uint32_t kOffset = 2;
inline constexpr std::uint32_t kDuration = 3;
inline constexpr std::uint32_t kStat = 4;
inline constexpr std::uint32_t kOccurrences = 5;
// XStat
inline constexpr std::uint32_t kUnsignedValue = 3;
inline constexpr std::uint32_t kSignedValue = 4;
inline constexpr std::uint32_t kText = 5;
inline constexpr std::uint32_t kReference = 7;
// XEventMetadata and XStatMetadata
inline constexpr std::uint32_t kName = 2;
inline constexpr std::uint32_t kDisplayName = 4;
inline constexpr std::uint32_t kStatOfMetadata = 5;
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

/// The singular fields of a statistic: its name, and a value in one of several fields.
inline constexpr std::uint32_t kSingularOfStat = 1u << xspace_field::kMetadataId | 1u << xspace_field::kUnsignedValue;

/// The field's number; that of kUnsignedValue for a value of any type.
inline std::uint32_t field_or_value(const WireField& field) {
  return field.field() == xspace_field::kMetadataId ? field.field() : xspace_field::kUnsignedValue;
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
/// `skip(message)` may skip unused fields. False: the event is damaged.
template <typename Skip, typename TakeStat>
[[gnu::always_inline]] inline bool read_event(WireMessage event, EventTimes& times, Skip skip, TakeStat take_stat) {
  std::uint64_t offset = 0;
  std::uint64_t duration = 0;
  constexpr std::uint32_t kSingular = 1u << xspace_field::kMetadataId | 1u << xspace_field::kOffset |
                                      1u << xspace_field::kDuration | 1u << xspace_field::kOccurrences;
  std::uint32_t seen = 0;
  for (WireField field; skip(event), event.next(field);) {
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
