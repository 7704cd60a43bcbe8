#pragma once

#include <string>
#include <string_view>

namespace doctor {

/// Foreign text made safe for a terminal: one line, no control bytes (so no ANSI or OSC sequences), no characters that
/// reorder text, bytes that are not UTF-8 replaced by U+FFFD. What is taken out is shown as "\x1b" or "\u202e".
std::string escape_for_terminal(std::string_view text);

/// Foreign text as one field of a CSV file: made safe for a terminal, quoted as in RFC 4180, and with an apostrophe in
/// front where a spreadsheet would take it for a formula (=, +, -, @, tab or carriage return at the start).
std::string csv_field(std::string_view text);

/// At most `width` characters of text that is already escaped: what is too long loses its middle to "...".
std::string clip(std::string_view escaped, std::size_t width);

/// Number of characters (code points) of UTF-8 text: its width in columns for the scripts that names are written in.
std::size_t character_count(std::string_view text);

}  // namespace doctor
