#pragma once

#include <bit>
#include <cstring>
#include <new>
#include <vector>

#include "base/result.h"
#include "io/byte_source.h"

namespace doctor {

/// An allocator that leaves new elements uninitialised, for buffers that are written before they are read.
template <typename T>
struct UnclearedAllocator : std::allocator<T> {
  template <typename Other>
  struct rebind {
    using other = UnclearedAllocator<Other>;
  };

  template <typename Made, typename... Arguments>
  void construct(Made* place, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0) {
      ::new (static_cast<void*>(place)) Made;
    } else {
      ::new (static_cast<void*>(place)) Made(std::forward<Arguments>(arguments)...);
    }
  }
};

/// A buffer for reading. Clearing it would take about as long as reading a small trace.
using RawBytes = std::vector<char, UnclearedAllocator<char>>;

// The protobuf wire format, read without building messages: https://protobuf.dev/programming-guides/encoding/.

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, group_start = 3, group_end = 4, fixed32 = 5 };

struct WireTag {
  std::uint32_t field = 0;
  WireType type = WireType::varint;
};

/// The tag that `value` encodes; nullopt for field number 0 and for the wire types that no current message uses.
inline std::optional<WireTag> to_tag(std::uint64_t value) {
  const auto type = static_cast<WireType>(value & 7);
  const bool is_known =
      type == WireType::varint || type == WireType::fixed64 || type == WireType::bytes || type == WireType::fixed32;
  const std::uint64_t field = value >> 3;
  if (!is_known || field == 0 || field > 0x1fff'ffff) return std::nullopt;
  return WireTag{static_cast<std::uint32_t>(field), type};
}

/// A number of up to 8 bytes, lowest byte first.
std::uint64_t read_fixed(std::string_view bytes);

/// One field of a message. The tag is kept as one number, so that asking for a field is one comparison.
struct WireField {
  std::uint32_t tag = 0;     ///< field number and type as the format packs them
  std::uint64_t number = 0;  ///< a varint or fixed value; the length of a string, bytes or message
  const char* data = nullptr;

  std::uint32_t field() const { return tag >> 3; }
  WireType type() const { return static_cast<WireType>(tag & 7u); }
  bool is(std::uint32_t field, WireType type) const { return tag == (field << 3 | static_cast<std::uint32_t>(type)); }

  std::int64_t as_signed() const { return static_cast<std::int64_t>(number); }
  double as_double() const { return std::bit_cast<double>(number); }
  std::string_view bytes() const { return {data, number}; }  ///< valid only for type bytes
};

/// A varint and where it ends; null if it is cut off or longer than 64 bits. It is small enough to be returned in
/// registers.
struct ParsedVarint {
  const char* end = nullptr;
  std::uint64_t value = 0;
};

/// Joins the 7-bit groups of up to 8 varint bytes, lowest byte first, into one number. The top bits must be clear.
/// Upper groups are shifted down to the lower ones in pairs, then pairs of these, then the halves.
constexpr std::uint64_t join_varint_groups(std::uint64_t bytes) {
  bytes -= (bytes & 0x7f00'7f00'7f00'7f00u) >> 1;
  const std::uint64_t upper = bytes & 0x3fff'0000'3fff'0000u;
  bytes -= upper - (upper >> 2);
  return static_cast<std::uint32_t>(bytes) | bytes >> 32 << 28;
}

/// Parses a varint byte by byte.
ParsedVarint parse_varint_bytewise(const char* at, const char* end);

/// Parses the last two bytes of a varint, likewise.
[[gnu::always_inline]] inline ParsedVarint parse_last_of_varint(const char* at, const char* end, std::uint64_t value) {
  for (const unsigned shift : {56u, 63u}) {
    if (at == end) return {};
    const auto byte = static_cast<unsigned char>(*at++);
    value |= static_cast<std::uint64_t>(byte & 0x7fu) << shift;
    if (byte < 0x80) return {at, value};
  }
  return {};
}

[[gnu::always_inline]] inline ParsedVarint parse_varint(const char* at, const char* end) {
  // Tags, lengths and small numbers are most of a trace, and take one byte.
  if (at != end && static_cast<unsigned char>(*at) < 0x80) return {at + 1, static_cast<unsigned char>(*at)};
  // Times take five or six bytes and ids nine or ten: eight are joined at once.
  if (std::endian::native != std::endian::little || end - at < 8) return parse_varint_bytewise(at, end);
  constexpr std::uint64_t kTopBits = 0x8080'8080'8080'8080u;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  const std::uint64_t ends = ~bytes & kTopBits;
  const std::uint64_t value =
      join_varint_groups(bytes & (ends ^ (ends - 1)) & ~kTopBits);  // all eight bytes, without an end
  if (ends == 0) return parse_last_of_varint(at + 8, end, value);
  return {at + (std::countr_zero(ends) / 8 + 1), value};
}

/// Reads one varint from `bytes` at `position` and moves on; nullopt if it is cut off or longer than 64 bits.
inline std::optional<std::uint64_t> read_varint(std::string_view bytes, std::size_t& position) {
  const ParsedVarint parsed = parse_varint(bytes.data() + position, bytes.data() + bytes.size());
  if (parsed.end == nullptr) return std::nullopt;
  position = static_cast<std::size_t>(parsed.end - bytes.data());
  return parsed.value;
}

/// The fields of one message in memory, in order.
class WireMessage {
 public:
  explicit WireMessage(std::string_view bytes) : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  /// Moves to the next field; false at the end and after damage, which is_damaged() tells apart.
  bool next(WireField& field);
  bool is_damaged() const { return next_ == nullptr; }

  /// The bytes of the fields to come; skip() skips some of them, in whole fields.
  std::string_view rest() const { return {next_, static_cast<std::size_t>(end_ - next_)}; }
  void skip(std::size_t size) { next_ += size; }

 private:
  bool damage() {
    next_ = end_ = nullptr;
    return false;
  }

  const char* next_;  ///< null after damage, and `end_` too
  const char* end_;
};

// Inlined by force: three of four instructions of reading an XSpace are here, and a call would keep the position in
// memory instead of a register.
[[gnu::always_inline]] inline bool WireMessage::next(WireField& field) {
  if (next_ == end_) return false;
  const ParsedVarint tag = parse_varint(next_, end_);
  next_ = tag.end;
  // The tag is invalid if the field number is 0 or too large.
  if (next_ == nullptr || tag.value - 8 > UINT32_MAX - 8) return damage();
  field.tag = static_cast<std::uint32_t>(tag.value);
  switch (field.type()) {
    case WireType::varint:
    case WireType::bytes: {
      const ParsedVarint number = parse_varint(next_, end_);
      next_ = number.end;
      field.number = number.value;
      if (next_ == nullptr) return damage();
      if (field.type() == WireType::varint) return true;
      break;
    }
    case WireType::fixed64:
      field.number = sizeof(std::uint64_t);
      break;
    case WireType::fixed32:
      field.number = sizeof(std::uint32_t);
      break;
    default:
      return damage();
  }
  if (field.number > static_cast<std::size_t>(end_ - next_)) return damage();
  field.data = next_;
  next_ += field.number;
  if (field.type() != WireType::bytes) field.number = read_fixed(field.bytes());
  return true;
}

/// The same over a source that does not fit into memory: a window moves over the bytes.
class WireStream {
 public:
  static constexpr std::size_t kLongestVarint = 10;
  static constexpr std::size_t kFieldHead = 2 * kLongestVarint;  ///< a tag and the number after it

  WireStream(ByteSource& source, std::size_t window_size);

  /// Uncompressed bytes consumed so far.
  std::uint64_t position() const { return window_offset_ + begin_; }

  /// True if all bytes are consumed; also true after a read error, which error() holds.
  bool at_end();
  const std::optional<Error>& error() const { return error_; }

  /// The next field's tag; nullopt at the end, or if the bytes are not a tag.
  std::optional<WireTag> read_tag();
  std::optional<std::uint64_t> read_number();

  /// The next `length` bytes, valid until the next call. nullopt if the source has fewer.
  std::optional<std::string_view> read_bytes(std::uint64_t length);

  /// True if `count` bytes, or all that are left, can be read without moving the window.
  bool holds(std::uint64_t count) const { return available() >= count || source_ended_; }

  /// Reads on until holds(count); the window moves.
  void prepare(std::uint64_t count) { fill(count); }

  /// The index of the next byte in the window. go_back() returns to it as long as the window has not moved.
  std::size_t place() const { return begin_; }
  void go_back(std::size_t place) { begin_ = place; }

  /// Takes the window: `window` becomes the bytes that place() counts in, and the stream continues with its old memory.
  void hand_over(RawBytes& window);

  /// Skips consecutive fields of type bytes with this tag (one byte long), as far as they lie within the window and
  /// before `end`.
  void skip_run(unsigned char tag, std::uint64_t end);

  /// Moves on to `position`; false if the source ends before.
  bool skip_to(std::uint64_t position);

  /// Skips the value of an unused field; false after damage.
  bool skip_value(WireTag tag);

 private:
  /// Makes `count` bytes available in the window, or all that are left.
  void fill(std::size_t count);
  std::size_t available() const { return end_ - begin_; }

  ByteSource& source_;
  std::size_t window_size_;
  RawBytes window_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t window_offset_ = 0;  ///< position in the source of window_[0]
  bool source_ended_ = false;
  std::optional<Error> error_;
};

}  // namespace doctor
