#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "trace/wire.h"
#include "trace/xspace_names.h"
#include "trace/xspace_wire.h"

namespace doctor {

// Events of an XSpace as profilers write them, which is all of them in practice: the id, then offset, duration and
// statistics in this order, each statistic with its tags, length and id in a byte each. Bounds are not checked at each
// number: what is read lies within kReadBeyond bytes of the event, and a number that ends beyond the event is noticed.
// Whatever is not like that is left to the reader of any event, which alone judges what is damaged.

/// Bytes after an event that must be readable: a number begins at most 5 bytes beyond what was checked and takes 10.
inline constexpr std::ptrdiff_t kReadBeyond = 16;

constexpr unsigned bit_of(StatRole role) {
  return 1u << static_cast<unsigned>(role);
}

/// The signature of attributes of which the last is this one (FNV-1a).
constexpr std::uint64_t signature_with(std::uint64_t signature, std::uint64_t id) {
  return (signature ^ id) * 0x100'0000'01b3u;
}

constexpr char varint_tag(std::uint32_t field) {
  return static_cast<char>(field << 3 | static_cast<std::uint32_t>(WireType::varint));
}

/// A varint of which 10 bytes can be read.
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

/// The values of the statistics of an event, by role.
class UsualStats {
 public:
  void add(StatRole role, std::uint64_t value) {
    values_[static_cast<unsigned>(role)] = value;
    seen_ |= bit_of(role);
  }
  bool has(StatRole role) const { return (seen_ & bit_of(role)) != 0; }
  /// 0 where there is none.
  std::uint64_t operator[](StatRole role) const { return has(role) ? values_[static_cast<unsigned>(role)] : 0; }
  std::optional<std::uint64_t> find(StatRole role) const {
    return has(role) ? std::optional(values_[static_cast<unsigned>(role)]) : std::nullopt;
  }

 private:
  std::uint64_t values_[static_cast<unsigned>(StatRole::closure) + 1];  // not cleared: `seen_` says which are there
  unsigned seen_ = 0;
};

/// Reads the statistics from `at` to `end`, and the signature of the attributes among them. False: one is not usual.
[[gnu::always_inline]] inline bool read_usual_stats(std::span<const StatRole> roles, unsigned wanted, const char* at,
                                                    const char* end, UsualStats& stats, std::uint64_t& signature) {
  using namespace xspace_field;
  constexpr std::uint32_t kOneByteNumbers = 0x80ff'80ff;  // length and id have no second byte
  constexpr std::uint32_t kTags = (kStat << 3 | static_cast<std::uint32_t>(WireType::bytes)) |
                                  (kMetadataId << 3 | static_cast<std::uint32_t>(WireType::varint)) << 16;
  const StatRole* const role_of = roles.data();
  while (at < end) {
    std::uint32_t head = 0;
    std::memcpy(&head, at, sizeof head);
    const std::size_t size = 2 + (head >> 8 & 0x7f);
    const std::uint32_t id = head >> 24;
    const char* const next = at + size;
    if ((head & kOneByteNumbers) != kTags || size < sizeof head || next > end || id >= roles.size()) return false;
    const StatRole role = role_of[id];
    if (role == StatRole::attribute) {
      signature = signature_with(signature, id);
    } else if ((wanted & bit_of(role)) != 0) {
      const char tag = at[sizeof head];
      if (tag != varint_tag(kUnsignedValue) && tag != varint_tag(kSignedValue)) return false;
      const ParsedVarint value = parse_readable_varint(at + sizeof head + 1);
      if (value.end != next) return false;
      stats.add(role, value.value);
    }
    at = next;
  }
  return true;
}

struct UsualEvent {
  EventTimes times;
  UsualStats stats;
  std::uint64_t signature = 0;  ///< of its attributes, see signature_with()
};

/// Reads what follows the id of an event. `wanted`: the roles whose values are taken, as bits; values of others are not
/// looked at. Bytes may be read up to `readable_end`. False: it is not usual.
[[gnu::always_inline]] inline bool read_usual_event(std::string_view rest, const char* readable_end,
                                                    std::span<const StatRole> roles, unsigned wanted,
                                                    UsualEvent& event) {
  if constexpr (std::endian::native != std::endian::little) return false;
  const char* const begin = rest.data();
  const char* const end = begin + rest.size();
  if (readable_end - end < kReadBeyond || rest.empty() || *begin != varint_tag(xspace_field::kOffset)) return false;
  const ParsedVarint offset = parse_readable_varint(begin + 1);
  if (offset.end == nullptr || offset.end > end) return false;
  ParsedVarint duration{offset.end, 0};
  if (offset.end < end && *offset.end == varint_tag(xspace_field::kDuration)) {
    duration = parse_readable_varint(offset.end + 1);
  }
  if (duration.end == nullptr || duration.end > end) return false;
  event.times = event_times(offset.value, duration.value);
  return read_usual_stats(roles, wanted, duration.end, end, event.stats, event.signature);
}

}  // namespace doctor
