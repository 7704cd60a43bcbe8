#include "trace/wire.h"

#include <algorithm>

namespace doctor {
ParsedVarint parse_varint_bytewise(const char* at, const char* end) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && at != end; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    value |= static_cast<std::uint64_t>(byte & 0x7fu) << shift;
    if (byte < 0x80) return {at, value};
  }
  return {};
}

std::uint64_t read_fixed(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t byte = bytes.size(); byte > 0; --byte)
    value = value << 8 | static_cast<unsigned char>(bytes[byte - 1]);
  return value;
}

namespace {

/// Small files need no large window. Only a guess: what is compressed,
/// or still grows, may turn out to be larger.
std::size_t window_size_for(const ByteSource& source, std::size_t wanted) {
  constexpr std::uint64_t kLeast = std::uint64_t{4} << 10;
  if (source.is_compressed()) return wanted;
  return static_cast<std::size_t>(std::min<std::uint64_t>(wanted, std::max(kLeast, source.stored_size())));
}

}  // namespace

WireStream::WireStream(ByteSource& source, std::size_t window_size)
    : source_(source), window_size_(window_size_for(source, window_size)), window_(window_size_) {}

void WireStream::fill(std::size_t count) {
  if (available() >= count || source_ended_) return;
  std::memmove(window_.data(), window_.data() + begin_, available());
  window_offset_ += begin_;
  end_ -= begin_;
  begin_ = 0;
  while (end_ < count && !source_ended_) {
    // The length of a field may be damage: the window grows only as fast as bytes really come.
    if (end_ == window_.size()) window_.resize(std::min(count, window_.size() * 2));
    const Result<std::size_t> got = source_.read(window_.data() + end_, window_.size() - end_);
    if (!got) error_ = got.error();
    if (!got || *got == 0) source_ended_ = true;
    if (got) end_ += *got;
  }
}

void WireStream::hand_over(RawBytes& window) {
  window.resize(std::max(window_size_, available()));
  std::memcpy(window.data(), window_.data() + begin_, available());
  window.swap(window_);
  window_offset_ += begin_;
  end_ -= begin_;
  begin_ = 0;
}

bool WireStream::at_end() {
  fill(1);
  return available() == 0;
}

std::optional<std::uint64_t> WireStream::read_number() {
  fill(kLongestVarint);
  return read_varint(std::string_view(window_.data(), end_), begin_);
}

std::optional<WireTag> WireStream::read_tag() {
  const std::optional<std::uint64_t> key = read_number();
  return key ? to_tag(*key) : std::nullopt;
}

std::optional<std::string_view> WireStream::read_bytes(std::uint64_t length) {
  if (length > available()) fill(length);
  if (length > available()) return std::nullopt;
  const std::string_view bytes(window_.data() + begin_, length);
  begin_ += length;
  return bytes;
}

void WireStream::skip_run(unsigned char tag, std::uint64_t end) {
  const std::uint64_t until_end = end - std::min(end, position());
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(available(), until_end));
  const char* const begin = window_.data() + begin_;
  const char* const limit = begin + size;
  const char* at = begin;
  while (at != limit && static_cast<unsigned char>(*at) == tag) {
    const ParsedVarint length = parse_varint(at + 1, limit);
    if (length.end == nullptr || length.value > static_cast<std::size_t>(limit - length.end)) break;
    at = length.end + length.value;
  }
  begin_ += static_cast<std::size_t>(at - begin);
}

bool WireStream::skip_to(std::uint64_t position) {
  const std::uint64_t here = this->position();
  if (position < here) return false;
  const std::uint64_t distance = position - here;
  if (distance <= available()) {
    begin_ += distance;
    return true;
  }
  const std::uint64_t beyond = distance - available();
  const Result<std::uint64_t> skipped = source_ended_ ? Result<std::uint64_t>(0) : source_.skip(beyond);
  if (!skipped) error_ = skipped.error();
  window_offset_ += end_ + skipped.value_or(0);
  begin_ = end_ = 0;
  if (skipped.value_or(0) < beyond) source_ended_ = true;
  return skipped.value_or(0) == beyond;
}

bool WireStream::skip_value(WireTag tag) {
  switch (tag.type) {
    case WireType::varint:
      return read_number().has_value();
    case WireType::fixed64:
      return skip_to(position() + 8);
    case WireType::fixed32:
      return skip_to(position() + 4);
    default: {
      const std::optional<std::uint64_t> length = read_number();
      return length && *length <= UINT64_MAX - position() && skip_to(position() + *length);
    }
  }
}

}  // namespace doctor
