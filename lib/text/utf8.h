#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace doctor {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  ///< in bytes; 0 if the bytes are not UTF-8
};

/// Whether a byte continues a character that another began.
inline bool is_utf8_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0u) == 0x80;
}

/// The character that `text`, which must not be empty, begins with. Refuses overlong forms, surrogates and codes above
/// U+10FFFF.
Utf8Character first_utf8_character(std::string_view text);

/// Whether `text` begins with `prefix`, taking ASCII letters of either case as equal.
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);

}  // namespace doctor
