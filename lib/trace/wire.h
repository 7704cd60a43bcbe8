#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/byte_source.h"

namespace doctor {

// The protobuf wire format, read without building messages: https://protobuf.dev/programming-guides/encoding/.

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, group_start = 3, group_end = 4, fixed32 = 5 };

struct WireTag {
  std::uint32_t field = 0;
  WireType type = WireType::varint;
};

/// Reads one varint from `bytes` at `position` and moves on; nullopt if it is cut off or longer than 64 bits.
inline std::optional<std::uint64_t> read_varint(std::string_view bytes, std::size_t& position) {
  // Tags, lengths and small numbers, which are most of a trace, take one byte.
  if (position < bytes.size() && static_cast<unsigned char>(bytes[position]) < 0x80) {
    return static_cast<unsigned char>(bytes[position++]);
  }
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && position < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[position++]);
    value |= static_cast<std::uint64_t>(byte & 0x7fu) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

/// The tag that `value` encodes; nullopt for field number 0 and for the wire types that no current message uses.
inline std::optional<WireTag> to_tag(std::uint64_t value) {
  const auto type = static_cast<WireType>(value & 7);
  const bool is_known =
      type == WireType::varint || type == WireType::fixed64 || type == WireType::bytes || type == WireType::fixed32;
  const std::uint64_t field = value >> 3;
  if (!is_known || field == 0 || field > 0x1fff'ffff) return std::nullopt;
  return WireTag{static_cast<std::uint32_t>(field), type};
}

/// One field of a message: `number` holds a varint or a fixed value, `bytes` a string, bytes or message.
struct WireField {
  std::uint32_t field = 0;
  WireType type = WireType::varint;
  std::uint64_t number = 0;
  std::string_view bytes;

  std::int64_t as_signed() const { return static_cast<std::int64_t>(number); }
  double as_double() const { return std::bit_cast<double>(number); }
};

/// The fields of one message in memory, in order.
class WireMessage {
 public:
  explicit WireMessage(std::string_view bytes) : bytes_(bytes) {}

  /// Moves to the next field; false at the end and at damage, which is_damaged() tells apart.
  bool next(WireField& field);
  bool is_damaged() const { return is_damaged_; }

 private:
  bool damaged() {
    is_damaged_ = true;
    return false;
  }

  std::string_view bytes_;
  std::size_t position_ = 0;
  bool is_damaged_ = false;
};

inline bool WireMessage::next(WireField& field) {
  if (position_ >= bytes_.size() || is_damaged_) return false;
  const std::optional<std::uint64_t> key = read_varint(bytes_, position_);
  const std::optional<WireTag> tag = key ? to_tag(*key) : std::nullopt;
  if (!tag) return damaged();
  field.field = tag->field;
  field.type = tag->type;
  if (tag->type == WireType::varint || tag->type == WireType::bytes) {
    const std::optional<std::uint64_t> value = read_varint(bytes_, position_);
    if (!value) return damaged();
    field.number = *value;
    if (tag->type == WireType::varint) return true;
    if (*value > bytes_.size() - position_) return damaged();
    field.bytes = bytes_.substr(position_, *value);
    position_ += *value;
    return true;
  }
  const std::size_t width = tag->type == WireType::fixed64 ? 8 : 4;
  if (width > bytes_.size() - position_) return damaged();
  field.number = 0;
  for (std::size_t byte = 0; byte < width; ++byte) {
    field.number |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[position_ + byte])) << (8 * byte);
  }
  position_ += width;
  return true;
}

/// The same over a source that is larger than memory should be: a window of 1 MB moves over the bytes.
class WireStream {
 public:
  explicit WireStream(ByteSource& source);

  /// Uncompressed bytes consumed so far.
  std::uint64_t position() const { return window_offset_ + begin_; }

  /// Whether all bytes are consumed; also true after a read error, which error() holds.
  bool at_end();
  const std::optional<Error>& error() const { return error_; }

  /// The next field's tag; nullopt at the end, or if the bytes are no tag.
  std::optional<WireTag> read_tag();
  std::optional<std::uint64_t> read_number();

  /// The next `length` bytes, valid until the next call. nullopt if the source has fewer.
  std::optional<std::string_view> read_bytes(std::uint64_t length);

  /// Moves on to `position`; false if the source ends before.
  bool skip_to(std::uint64_t position);

  /// Skips the value of a field that nobody wants; false at damage.
  bool skip_value(WireTag tag);

 private:
  /// Makes `count` bytes available in the window, or all that are left.
  void fill(std::size_t count);
  std::size_t available() const { return end_ - begin_; }

  ByteSource& source_;
  std::vector<char> window_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t window_offset_ = 0;  ///< position in the source of window_[0]
  bool source_ended_ = false;
  std::optional<Error> error_;
};

}  // namespace doctor
