#include "report/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace doctor {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  ///< in bytes; 0 if the bytes are not UTF-8
};

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0u) == 0x80;
}

/// The character that `text` begins with. Refuses overlong forms, surrogates and codes above U+10FFFF.
Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  std::uint32_t code = lead & (0xffu >> (length + 1));
  for (std::size_t index = 1; index < length; ++index) {
    if (!is_continuation(text[index])) return {};
    code = code << 6 | (static_cast<unsigned char>(text[index]) & 0x3fu);
  }
  const std::uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x1'0000;
  if (code < least || code > 0x10'ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, length};
}

/// C0 and C1 control characters: what starts a terminal's escape sequences.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/// Characters that end a line or change the direction of what follows: a name must not rewrite its surroundings.
bool is_layout(std::uint32_t code) {
  return (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

}  // namespace

std::string escape_for_terminal(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.length == 0) {
      escaped += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    if (is_control(character.code)) {
      fmt::format_to(std::back_inserter(escaped), "\\x{:02x}", character.code);
    } else if (is_layout(character.code)) {
      fmt::format_to(std::back_inserter(escaped), "\\u{:04x}", character.code);
    } else {
      escaped += text.substr(0, character.length);
    }
    text.remove_prefix(character.length);
  }
  return escaped;
}

std::string csv_field(std::string_view text) {
  constexpr std::string_view kFormulaStarts = "=+-@\t\r";
  std::string field = escape_for_terminal(text);
  if (!text.empty() && kFormulaStarts.find(text.front()) != std::string_view::npos) field.insert(0, "'");
  if (field.find_first_of(",\"") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char character : field) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + '"';
}

std::size_t character_count(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_continuation));
}

std::string clip(std::string_view escaped, std::size_t width) {
  constexpr std::string_view kGap = "...";
  if (character_count(escaped) <= width) return std::string(escaped);
  const std::size_t kept = width > kGap.size() ? width - kGap.size() : 0;
  // The end of a name tells more than its start, so the odd character is the end's.
  std::size_t head = 0;
  for (std::size_t left = kept / 2; left > 0; --left) {
    do ++head;
    while (head < escaped.size() && is_continuation(escaped[head]));
  }
  std::size_t tail = escaped.size();
  for (std::size_t left = kept - kept / 2; left > 0; --left) {
    do --tail;
    while (tail > 0 && is_continuation(escaped[tail]));
  }
  return std::string(escaped.substr(0, head)) + std::string(kGap) + std::string(escaped.substr(tail));
}

}  // namespace doctor
