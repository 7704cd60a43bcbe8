#include "io/tar_reader.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/parse.h"
#include "base/try.h"

namespace doctor {
namespace {

constexpr std::size_t kBlock = 512;
/// Four times what Linux opens.
constexpr std::size_t kLongestMemberName = std::size_t{16} << 10;
/// Holds the attributes of a file, too, of which Linux allows 64 KiB each.
constexpr std::size_t kLongestPax = std::size_t{1} << 20;

/// A field of text ends with a zero byte, or with the field.
std::string_view text_of(const char* field, std::size_t size) {
  return {field, ::strnlen(field, size)};
}

/// Octal digits, or GNU's bytes of a number after one of 0x80; nullopt for what is neither, and for 2^63 and more.
std::optional<std::uint64_t> number_of(const char* field, std::size_t size) {
  const std::string_view bytes(field, size);
  std::uint64_t value = 0;
  if (bytes.front() == '\x80') {
    for (const char byte : bytes.substr(1)) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(byte);
    }
    return value;
  }
  const std::size_t first = bytes.find_first_not_of(' ');
  const std::size_t end = bytes.find_first_of(std::string_view(" \0", 2), first);
  for (const char digit : bytes.substr(std::min(first, size), end - first)) {
    if (digit < '0' || digit > '7') return std::nullopt;
    value = value << 3 | static_cast<unsigned>(digit - '0');  // of 12 digits at most
  }
  return value;
}

std::uint64_t padding_after(std::uint64_t size) {
  return (kBlock - size % kBlock) % kBlock;
}

}  // namespace

/// Offsets are POSIX's (pax, "ustar Interchange Format").
struct TarReader::Header {
  std::array<char, kBlock> block{};

  char kind() const { return block[156]; }
  std::optional<std::uint64_t> size() const { return number_of(&block[124], 12); }

  std::string path() const {
    const std::string_view name = text_of(block.data(), 100);
    // GNU's older form, "ustar  ", has other things in place of a prefix.
    const std::string_view prefix =
        std::memcmp(&block[257], "ustar", 6) == 0 ? text_of(&block[345], 155) : std::string_view();
    return prefix.empty() ? std::string(name) : std::string(prefix) + "/" + std::string(name);
  }

  bool is_zero() const {
    return std::ranges::all_of(block, [](char byte) { return byte == 0; });
  }

  /// The sum of all bytes, those of the sum itself taken for spaces; some writers had them signed.
  bool is_sound() const {
    std::uint64_t sum = 0;
    std::int64_t signed_sum = 0;
    for (std::size_t index = 0; index < kBlock; ++index) {
      const char byte = index >= 148 && index < 156 ? ' ' : block[index];
      sum += static_cast<unsigned char>(byte);
      signed_sum += static_cast<signed char>(byte);
    }
    const std::optional<std::uint64_t> said = number_of(&block[148], 8);
    return said && (*said == sum || static_cast<std::int64_t>(*said) == signed_sum);
  }
};

Unexpected TarReader::damaged(std::string what) const {
  return fail(std::move(what), name_, "write the archive anew; with -o FILE --resume what has a row is skipped",
              position_);
}

/// Fewer bytes at the end of the archive only. A signal ends the wait.
Result<std::size_t> TarReader::fill(char* buffer, std::size_t capacity) {
  std::size_t filled = 0;
  while (filled < capacity) {
    const ssize_t count = ::read(archive_.number(), buffer + filled, capacity - filled);
    if (count == 0) break;
    if (count > 0) {
      filled += static_cast<std::size_t>(count);
      position_ += static_cast<std::size_t>(count);
      continue;
    }
    pollfd readable{archive_.number(), POLLIN, 0};
    const bool waits = errno == EAGAIN;  // whoever started us left it non-blocking
    if (!waits || ::poll(&readable, 1, -1) < 0) {
      return fail("cannot be read: " + std::system_category().message(errno), name_, {}, position_);
    }
  }
  return filled;
}

Result<void> TarReader::skip(std::uint64_t count) {
  std::array<char, std::size_t{64} << 10> skipped;
  while (count > 0) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count, skipped.size()));
    ASSIGN_OR_RETURN(const std::size_t filled, fill(skipped.data(), wanted));
    if (filled < wanted) return damaged("ends in the middle of a member: it was cut off");
    count -= filled;
  }
  return {};
}

/// False at the end of the archive.
Result<bool> TarReader::read_header(Header& header) {
  while (true) {
    const std::uint64_t begin = position_;
    ASSIGN_OR_RETURN(const std::size_t filled, fill(header.block.data(), kBlock));
    if (filled == 0 && has_end_) return false;
    if (begin == 0 && std::memcmp(header.block.data(), "\x1f\x8b", 2) == 0) {
      return fail("is compressed", name_, "hand over what is in it: gzip -dc FILE | tfdata-doctor batch --tar -");
    }
    has_end_ = filled == kBlock && header.is_zero();
    if (has_end_) continue;  // another archive may follow
    if (filled == kBlock && header.is_sound()) return true;
    if (begin == 0) return fail("is not a tar archive", name_, "name one of traces");
    if (filled < kBlock) return damaged("ends without the end of an archive: it was cut off");
    position_ = begin;
    return damaged("is damaged: no member begins where one should");
  }
}

Result<std::string> TarReader::read_text(std::uint64_t size, std::size_t most) {
  if (size > most) return damaged("is damaged: a name or a header of " + std::to_string(size) + " bytes");
  std::string text(static_cast<std::size_t>(size), '\0');
  ASSIGN_OR_RETURN(const std::size_t filled, fill(text.data(), text.size()));
  if (filled < text.size()) return damaged("ends in the middle of a header: it was cut off");
  RETURN_IF_ERROR(skip(padding_after(size)));
  return text;
}

/// Records are "LENGTH KEY=VALUE\n", LENGTH that of all of it.
Result<void> TarReader::take_pax(const std::string& records, std::optional<std::string>& path,
                                 std::optional<std::uint64_t>& bytes) const {
  for (std::string_view rest = records; !rest.empty();) {
    const std::size_t space = std::min(rest.find(' '), rest.size());
    const std::size_t length = parse_whole<std::uint64_t>(rest.substr(0, space)).value_or(0);
    if (length < space + 2 || length > rest.size()) return damaged("is damaged: a pax header has no length");
    const std::string_view record = rest.substr(space + 1, length - space - 2);
    const std::string_view value = record.substr(std::min(record.find('=') + 1, record.size()));
    if (record.starts_with("path=") && value.size() <= kLongestMemberName) path = std::string(value);
    if (record.starts_with("size=")) bytes = parse_whole<std::uint64_t>(value);
    rest.remove_prefix(length);
  }
  return {};
}

void TarReader::begin_content(std::uint64_t size) {
  left_ = size;
  padding_ = padding_after(size);
}

Result<std::optional<TarMember>> TarReader::find_next() {
  RETURN_IF_ERROR(skip(left_));
  RETURN_IF_ERROR(skip(padding_));
  begin_content(0);
  std::optional<std::string> path;
  std::optional<std::uint64_t> bytes;
  while (true) {
    Header header;
    ASSIGN_OR_RETURN(const bool is_there, read_header(header));
    if (!is_there) return std::optional<TarMember>();
    const std::optional<std::uint64_t> size = header.size();
    if (!size) return damaged("is damaged: a member has no size");
    switch (header.kind()) {
      case 'L': {  // GNU: the name of the next member
        ASSIGN_OR_RETURN(const std::string name, read_text(*size, kLongestMemberName));
        path = std::string(text_of(name.data(), name.size()));
        break;
      }
      case 'x': {
        ASSIGN_OR_RETURN(const std::string records, read_text(*size, kLongestPax));
        RETURN_IF_ERROR(take_pax(records, path, bytes));
        break;
      }
      case 'K':  // GNU: where the next member, a link, leads to
      case 'g':  // of all members: none of it is used
        RETURN_IF_ERROR(skip(*size));
        RETURN_IF_ERROR(skip(padding_after(*size)));
        break;
      default: {
        TarMember member = {path.value_or(header.path()), bytes.value_or(*size)};
        const bool is_plain = header.kind() == '0' || header.kind() == '\0' || header.kind() == '7';
        member.is_folder = header.kind() == '5' || (is_plain && member.name.ends_with('/'));
        member.is_file = is_plain && !member.is_folder;
        // Links, devices and folders have none, whatever their size.
        if (header.kind() < '1' || header.kind() > '6') begin_content(member.bytes);
        return std::optional(std::move(member));
      }
    }
  }
}

Result<std::optional<TarMember>> TarReader::next() {
  if (is_over_) return std::optional<TarMember>();
  Result<std::optional<TarMember>> member = find_next();
  is_over_ = !member || !*member;
  return member;
}

Result<std::size_t> TarReader::read(char* buffer, std::size_t capacity) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left_, capacity));
  Result<std::size_t> filled = fill(buffer, wanted);
  if (filled && *filled < wanted) filled = damaged("ends in the middle of a member: it was cut off");
  is_over_ = is_over_ || !filled;
  if (filled) left_ -= *filled;
  return filled;
}

}  // namespace doctor
