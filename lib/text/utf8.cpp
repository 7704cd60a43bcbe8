#include "text/utf8.h"

#include <algorithm>

namespace doctor {

Utf8Character first_utf8_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  std::uint32_t code = lead & (0xffu >> (length + 1));
  for (std::size_t index = 1; index < length; ++index) {
    if (!is_utf8_continuation(text[index])) return {};
    code = code << 6 | (static_cast<unsigned char>(text[index]) & 0x3fu);
  }
  const std::uint32_t least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x1'0000;
  if (code < least || code > 0x10'ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, length};
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [&](char a, char b) { return lower(a) == lower(b); });
}

}  // namespace doctor
