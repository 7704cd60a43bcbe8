#pragma once

#include <array>

#include "trace/wire.h"
#include "trace/xspace/xspace_names.h"
#include "trace/xspace/xspace_wire.h"

namespace doctor {

// Fast reading of events as profilers write them, which is all of them in practice: the id, then offset, duration and
// statistics in this order, each statistic with its tags and length in one byte each, its id in one or two. Bounds are
// not checked at each number: everything that is read lies within kReadBeyond bytes of the event, and a number that
// ends beyond the event is noticed. Any other event is left to the general reader, which alone judges what is damaged.

/// The number of bytes after an event that must be readable: a number begins at most 5 bytes beyond what was checked,
/// and takes 10.
inline constexpr std::ptrdiff_t kReadBeyond = 16;

constexpr char varint_tag(std::uint32_t field) {
  return static_cast<char>(field << 3 | static_cast<std::uint32_t>(WireType::varint));
}

/// Parses a varint, of which 10 bytes must be readable.
[[gnu::always_inline]] inline ParsedVarint parse_readable_varint(const char* at) {
  constexpr std::uint64_t kTopBits = 0x8080'8080'8080'8080u;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  const std::uint64_t ends = ~bytes & kTopBits;
  const std::uint64_t value = join_varint_groups(bytes & (ends ^ (ends - 1)) & ~kTopBits);
  if (ends == 0) [[unlikely]]
    return parse_last_of_varint(at + 8, at + 10, value);
  return {at + (std::countr_zero(ends) / 8 + 1), value};
}

/// The end of a varint, of which 10 bytes must be readable. Null if it has more than 8.
[[gnu::always_inline]] inline const char* end_of_readable_varint(const char* at) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  const std::uint64_t ends = ~bytes & 0x8080'8080'8080'8080u;
  return ends == 0 ? nullptr : at + (std::countr_zero(ends) / 8 + 1);
}

/// A statistic as profilers write it.
struct UsualStat {
  std::uint32_t id = 0;
  const char* value = nullptr;  ///< the tag of its value; null if it has none
  const char* end = nullptr;    ///< may lie beyond the event
};

/// Calls `take(UsualStat)` for the statistics from `at` to `end`, whose ids are less than `id_end`, which is 128 or
/// more. False: one is unusual, which `take` may find too.
template <typename Take>
[[gnu::always_inline]] inline bool visit_usual_stats(const char* at, const char* end, std::size_t id_end, Take take) {
  using namespace xspace_field;
  constexpr std::uint32_t kOneByteNumbers = 0x80ff'80ff;  // length and id have no second byte
  constexpr std::uint32_t kOneByteLength = 0x00ff'80ff;
  constexpr std::uint32_t kTags = (kStat << 3 | static_cast<std::uint32_t>(WireType::bytes)) |
                                  (kMetadataId << 3 | static_cast<std::uint32_t>(WireType::varint)) << 16;
  constexpr std::size_t kIdSize = 2;
  while (at < end) {
    std::uint32_t head = 0;
    std::memcpy(&head, at, sizeof head);
    const std::size_t size = head >> 8 & 0x7f;
    std::uint32_t id = head >> 24;
    const char* value = at + sizeof head;
    if ((head & kOneByteNumbers) != kTags) {
      id = (id & 0x7f) | static_cast<std::uint32_t>(static_cast<unsigned char>(*value)) << 7;
      if ((head & kOneByteLength) != kTags || id >= id_end || size == kIdSize) return false;
      ++value;
    }
    if (size < kIdSize) return false;
    const char* const next = at + 2 + size;
    if (!take(UsualStat{id, value, next})) return false;
    at = next;
  }
  return at == end;
}

/// Reads a number of one or two bytes, such as lengths and ids of events, and moves `at` over it. False: it is longer.
[[gnu::always_inline]] inline bool read_short_varint(const char*& at, std::uint64_t& value) {
  const auto first = static_cast<unsigned char>(at[0]);
  const auto second = static_cast<unsigned char>(at[1]);
  value = first;
  ++at;
  if (first < 0x80) return true;
  value = (first & 0x7fu) | static_cast<std::uint64_t>(second) << 7;
  ++at;
  return second < 0x80;
}

/// The head of an event: its fields, its metadata id, and the bytes after that.
struct EventHead {
  std::string_view bytes;
  std::uint64_t metadata_id = 0;
  std::string_view rest;
};

/// Reads the head of the event that begins at `at`, and moves `at` over the whole event. False: it is unusual, and `at`
/// does not move.
[[gnu::always_inline]] inline bool read_usual_head(const char*& at, const char* readable_end, EventHead& head) {
  constexpr char kTag = static_cast<char>(xspace_field::kEvent << 3 | static_cast<std::uint32_t>(WireType::bytes));
  if (readable_end - at < kReadBeyond || *at != kTag) return false;
  const char* begin = at + 1;
  std::uint64_t size = 0;
  if (!read_short_varint(begin, size)) return false;
  const char* rest = begin + 1;
  const char* const end = begin + size;
  if (*begin != varint_tag(xspace_field::kMetadataId) || !read_short_varint(rest, head.metadata_id)) return false;
  if (end > readable_end || rest > end) return false;
  head.bytes = {begin, end};
  head.rest = {rest, end};
  at = end;
  return true;
}

/// The head of the event that begins at `at`, in whatever form, and the start of the next one. Null: there is none, or
/// the bytes are damaged.
inline std::pair<const char*, EventHead> read_any_head(const char* at, const char* end) {
  WireMessage events({at, end});
  WireField event;
  if (!events.next(event)) return {};
  EventHead head;
  head.bytes = event.bytes();
  WireMessage message(head.bytes);
  head.metadata_id = take_metadata_id(message);
  head.rest = message.rest();
  return {events.rest().data(), head};
}

/// Reads the head of the event that begins at `at`, and moves `at` over the whole event. False: there is none, or the
/// bytes are damaged. The addresses of the two do not escape, so that both stay in registers.
[[gnu::always_inline]] inline bool read_head(const char*& at, const char* readable_end, EventHead& head) {
  if (read_usual_head(at, readable_end, head)) return true;
  const std::pair<const char*, EventHead> any = read_any_head(at, readable_end);
  if (any.first == nullptr) return false;
  at = any.first;
  head = any.second;
  return true;
}

/// Reads the times after the id of an event, and returns where its statistics begin. Bytes may be read up to
/// `readable_end`. Null: the event is unusual, and `times` is invalid.
[[gnu::always_inline]] inline const char* read_usual_times(std::string_view rest, const char* readable_end,
                                                           EventTimes& times) {
  if constexpr (std::endian::native != std::endian::little) return nullptr;
  const char* const begin = rest.data();
  const char* const end = begin + rest.size();
  if (readable_end - end < kReadBeyond || rest.empty() || *begin != varint_tag(xspace_field::kOffset)) return nullptr;
  const ParsedVarint offset = parse_readable_varint(begin + 1);
  if (offset.end == nullptr || offset.end > end) return nullptr;
  ParsedVarint duration{offset.end, 0};
  if (offset.end < end && *offset.end == varint_tag(xspace_field::kDuration)) {
    duration = parse_readable_varint(offset.end + 1);
  }
  if (duration.end == nullptr || duration.end > end) return nullptr;
  times = event_times(offset.value, duration.value);
  return duration.end;
}

/// Where the statistics of an event begin, from the bytes after its id. Null: the event is unusual.
[[gnu::always_inline]] inline const char* skip_usual_times(std::string_view rest, const char* readable_end) {
  if constexpr (std::endian::native != std::endian::little) return nullptr;
  const char* const end = rest.data() + rest.size();
  if (readable_end - end < kReadBeyond || rest.empty() || rest.front() != varint_tag(xspace_field::kOffset)) {
    return nullptr;
  }
  const char* at = end_of_readable_varint(rest.data() + 1);
  if (at != nullptr && at < end && *at == varint_tag(xspace_field::kDuration)) at = end_of_readable_varint(at + 1);
  return at != nullptr && at <= end ? at : nullptr;
}

}  // namespace doctor
