#include "report/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/utf8.h"

namespace doctor {
namespace {

/// C0 and C1 control characters: what starts a terminal's escape sequences.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

bool is_printable_ascii(char c) {
  return c >= 0x20 && c < 0x7f;
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
    // Nearly everything is plain: whole runs of it are copied at once.
    const auto special = std::find_if_not(text.begin(), text.end(), is_printable_ascii);
    const auto plain = static_cast<std::size_t>(special - text.begin());
    escaped += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Utf8Character character = first_utf8_character(text);
    if (character.length == 0) {
      escaped += kReplacementCharacter;
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
  quoted.reserve(field.size() + field.size() / 4);
  for (std::size_t at = 0; at < field.size();) {
    const std::size_t quote = std::min(field.find('"', at), field.size());
    quoted.append(field, at, quote - at);
    if (quote < field.size()) quoted += "\"\"";
    at = quote + 1;
  }
  return quoted + '"';
}

std::size_t character_count(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_utf8_continuation));
}

std::string clip(std::string_view escaped, std::size_t width) {
  constexpr std::string_view kGap = "...";
  if (character_count(escaped) <= width) return std::string(escaped);
  const std::size_t kept = width > kGap.size() ? width - kGap.size() : 0;
  // The end of a name tells more than its start, so the odd character is the end's.
  std::size_t head = 0;
  for (std::size_t left = kept / 2; left > 0; --left) {
    do ++head;
    while (head < escaped.size() && is_utf8_continuation(escaped[head]));
  }
  std::size_t tail = escaped.size();
  for (std::size_t left = kept - kept / 2; left > 0; --left) {
    do --tail;
    while (tail > 0 && is_utf8_continuation(escaped[tail]));
  }
  return std::string(escaped.substr(0, head)) + std::string(kGap) + std::string(escaped.substr(tail));
}

}  // namespace doctor
