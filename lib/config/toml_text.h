#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace doctor {

/// A character of a TOML document; both count from 1, columns in characters.
struct TomlPlace {
  std::size_t line = 1;
  std::size_t column = 1;
};

/// Where the first character other than ASCII stands that is neither of a comment nor of a string, or that follows the
/// backslash at the end of a line of a string; nullopt where there is none. TOML has no such characters in the first
/// place. In the second toml++ 3.3 (and 3.4) takes none either: it asks of both whether they are blanks, in
/// is_non_ascii_horizontal_whitespace(), which is undefined for U+00A1 to U+0499 and some others. The characters of a
/// byte order mark at the start count as ASCII.
std::optional<TomlPlace> foreign_toml_character(std::string_view document);

}  // namespace doctor
