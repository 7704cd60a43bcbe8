#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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

/// Foreign text made safe for a terminal: one line, no control bytes (so no ANSI or OSC sequences), no characters that
/// reorder text, bytes that are not UTF-8 replaced by U+FFFD. What is taken out is shown as "\x1b" or "\u202e".
std::string escape_for_terminal(std::string_view text);

/// Foreign text as one field of a CSV file: made safe for a terminal, quoted as in RFC 4180, and with an apostrophe in
/// front where a spreadsheet would take it for a formula (=, +, -, @, tab or carriage return at the start).
std::string csv_field(std::string_view text);

/// Appends what csv_field() returns, most of the time without a copy of its own.
void append_csv_field(std::string& out, std::string_view text);

// Each of the following makes text safe for a terminal first, so that it is one line without control characters.

/// Text of an element or an attribute of XML 1.0, and of HTML. Characters that XML does not have become U+FFFD.
std::string escape_for_xml(std::string_view text);

/// Text within a paragraph, a table's cell or a list item of GitHub's and GitLab's Markdown, and at their start: no
/// markup, no HTML, no links made of what looks like one, nobody is mentioned (`@name`) and no issue (`#1`).
std::string escape_for_markdown(std::string_view text);

/// Text as a code span of the same Markdown, also within a table's cell; empty text stays empty.
std::string markdown_code(std::string_view text);

/// Lines of Python as a block of code, each cut after `longest_line` columns, with an empty line after it.
std::string markdown_code_block(std::string_view lines, std::size_t longest_line);

/// The message of a workflow command of GitHub Actions (`::error::MESSAGE`).
std::string escape_for_github(std::string_view text);

/// The value of one of its properties (`::error title=VALUE::`).
std::string escape_for_github_property(std::string_view text);

/// The value of a label in Prometheus' text format, without its quotes.
std::string escape_for_prometheus(std::string_view text);

/// The text of a SARIF message: no embedded link (3.11.6 of SARIF 2.1.0) and no placeholder (3.11.5).
std::string escape_for_sarif(std::string_view text);

/// A relative path as a URI reference (RFC 3986): all but unreserved characters and '/' percent-encoded. Bytes are
/// kept: what the path holds is not made safe for a terminal, but percent-encoded it is.
std::string uri_of_path(std::string_view path);

/// Foreign text as one word of a POSIX shell, for commands that are pasted: quoted where it holds anything but letters,
/// digits and what no shell gives a meaning. Safe for a terminal: bytes that are not are written by the shell's printf.
std::string shell_word(std::string_view text);

}  // namespace doctor
