#include "text/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

namespace doctor {
namespace {

/// C0 and C1 control characters: what starts a terminal's escape sequences.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

bool is_printable_ascii(char c) {
  return c >= 0x20 && c < 0x7f;
}

struct CodeRange {
  std::uint32_t first;
  std::uint32_t last;
};

/// Characters that end a line, change the direction of what follows, or show nothing: a name must not rewrite its
/// surroundings, nor look like another. Source: Default_Ignorable_Code_Point and Bidi_Control of Unicode 15 without
/// variation selectors, which belong to what stands before them; line and paragraph separators; annotations.
constexpr std::array<CodeRange, 13> kLayout = {{{0x00ad, 0x00ad},
                                                {0x034f, 0x034f},
                                                {0x061c, 0x061c},
                                                {0x115f, 0x1160},
                                                {0x17b4, 0x17b5},
                                                {0x180b, 0x180f},
                                                {0x200b, 0x200f},
                                                {0x2028, 0x202e},
                                                {0x2060, 0x206f},
                                                {0x3164, 0x3164},
                                                {0xfeff, 0xfeff},
                                                {0xffa0, 0xffa0},
                                                {0xfff0, 0xfffb}}};
/// The same beyond 16 bits: overlaps of shorthand, beams of musical notation, tags.
constexpr std::array<CodeRange, 3> kRareLayout = {{{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}}};

bool is_layout(std::uint32_t code) {
  const auto has = [&](const CodeRange& range) { return code >= range.first && code <= range.last; };
  if (code > 0xffff) return std::ranges::any_of(kRareLayout, has);
  return std::ranges::any_of(kLayout, has);
}

// U+2060 WORD JOINER: shows nothing and breaks no line, but keeps Markdown's extensions from seeing a name after '@'.
constexpr std::string_view kJoiner = "&#8288;";

bool is_alphanumeric(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The text with every occurrence of `part` replaced.
std::string replaced(std::string text, std::string_view part, std::string_view by) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + by.size())) {
    text.replace(at, part.size(), by);
  }
  return text;
}

std::string_view markup_entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '|':
      return "&#124;";  // `\|` after a backslash of the text would be read in two ways
    default:
      return {};
  }
}

/// Whether '_' is within a word, where it is not markup.
bool is_within_word(std::string_view text, std::size_t at) {
  return at > 0 && at + 1 < text.size() && is_alphanumeric(text[at - 1]) && is_alphanumeric(text[at + 1]);
}

/// The character as an entity or with a backslash, where Markdown gives it a meaning anywhere in a line.
void append_for_markdown(std::string& escaped, std::string_view text, std::size_t at) {
  constexpr std::string_view kMarkup = "\\`*_[]~$";
  constexpr std::string_view kReferences = "@#!";  // of people, issues, and merge requests of GitLab
  const char c = text[at];
  if (const std::string_view entity = markup_entity(c); !entity.empty()) {
    escaped += entity;
    return;
  }
  const bool is_plain_underscore = c == '_' && is_within_word(text, at);
  if (kMarkup.find(c) != std::string_view::npos && !is_plain_underscore) escaped += '\\';
  escaped += c;
  if (kReferences.find(c) != std::string_view::npos) escaped += kJoiner;
}

/// What would begin a block at the start of a line: a heading, a list, a rule, indented code.
std::string without_block_start(std::string escaped) {
  if (escaped.empty()) return escaped;
  constexpr std::string_view kBlockStarts = "#-+=:";
  if (escaped.front() == ' ') return escaped.replace(0, 1, "&#32;");
  if (kBlockStarts.find(escaped.front()) != std::string_view::npos) return escaped.insert(0, "\\");
  const std::size_t after = std::min(escaped.find_first_not_of("0123456789"), escaped.size());
  const bool has_delimiter = after > 0 && after < escaped.size() && (escaped[after] == '.' || escaped[after] == ')');
  const bool is_list_item = has_delimiter && (after + 1 == escaped.size() || escaped[after + 1] == ' ');
  return is_list_item ? escaped.insert(after, "\\") : escaped;
}

/// A code span that holds backticks or pipes is written as HTML: table cells and code spans do not agree on them.
std::string html_code(std::string_view text) {
  std::string code = "<code>";
  for (const char c : text) {
    const bool is_plain = is_alphanumeric(c) || c == ' ' || (static_cast<unsigned char>(c) & 0x80u) != 0;
    if (is_plain) {
      code += c;
    } else {
      fmt::format_to(std::back_inserter(code), "&#{};", static_cast<int>(c));
    }
  }
  return code + "</code>";
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
      escaped +=
          character.code > 0xffff ? fmt::format("\\U{:08x}", character.code) : fmt::format("\\u{:04x}", character.code);
    } else {
      escaped += text.substr(0, character.length);
    }
    text.remove_prefix(character.length);
  }
  return escaped;
}

namespace {

/// What a byte requires of the field that holds it.
enum CsvNeed : unsigned char { kNothing = 0, kQuotes = 1, kEscapes = 2 };

constexpr std::array<unsigned char, 256> kCsvNeeds = [] {
  std::array<unsigned char, 256> needs{};
  for (std::size_t byte = 0; byte < needs.size(); ++byte)
    needs[byte] = byte >= 0x20 && byte < 0x7f ? kNothing : kEscapes;
  needs[','] = kQuotes;
  needs['"'] = kQuotes;
  return needs;
}();

bool starts_formula(std::string_view text) {
  constexpr std::string_view kFormulaStarts = "=+-@\t\r";
  return !text.empty() && kFormulaStarts.find(text.front()) != std::string_view::npos;
}

/// Appends text in quotes, those within doubled.
void append_quoted(std::string& out, std::string_view text) {
  const auto quotes = static_cast<std::size_t>(std::ranges::count(text, '"'));
  const std::size_t begin = out.size();
  out.resize(begin + text.size() + quotes + 2);
  char* to = &out[begin];
  *to++ = '"';
  for (const char c : text) {
    *to++ = c;
    // Written in any case, and kept after a quote only: a branch would be guessed wrong at each.
    *to = '"';
    to += c == '"' ? 1 : 0;
  }
  *to = '"';
}

}  // namespace

void append_csv_field(std::string& out, std::string_view text) {
  unsigned char needs = kNothing;
  for (const char c : text) needs |= kCsvNeeds[static_cast<unsigned char>(c)];
  if (needs >= kEscapes || starts_formula(text)) {
    out += csv_field(text);
  } else if (needs == kNothing) {
    out += text;
  } else {
    append_quoted(out, text);
  }
}

std::string csv_field(std::string_view text) {
  std::string field = escape_for_terminal(text);
  if (starts_formula(text)) field.insert(0, "'");
  // Not find_first_of(): it calls memchr() for each character.
  if (std::ranges::none_of(field, [](char c) { return c == ',' || c == '"'; })) return field;
  std::string quoted;
  append_quoted(quoted, field);
  return quoted;
}

std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    constexpr std::string_view kPlain = "@%+=:,./-_";
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kPlain.find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  const bool is_safe = escape_for_terminal(text) == text;
  std::string word = is_safe ? "'" : "\"$(printf '";
  for (const char c : text) {
    const bool is_printed = is_safe || (is_printable_ascii(c) && c != '\\' && c != '%');
    if (c == '\'') {
      word += "'\\''";
    } else if (is_printed) {
      word += c;
    } else {
      fmt::format_to(std::back_inserter(word), "\\{:03o}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return word + (is_safe ? "'" : "')\"");
}

std::string escape_for_xml(std::string_view text) {
  std::string escaped;
  for (const char c : escape_for_terminal(text)) {
    const std::string_view entity = c == '|' ? std::string_view() : markup_entity(c);
    if (!entity.empty()) {
      escaped += entity;
    } else if (c == '"') {
      escaped += "&quot;";
    } else if (c == '\'') {
      escaped += "&#39;";
    } else {
      escaped += c;
    }
  }
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  for (const std::string_view none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {  // U+FFFE, U+FFFF
    escaped = replaced(std::move(escaped), none, kReplacement);
  }
  return escaped;
}

std::string escape_for_markdown(std::string_view text) {
  const std::string shown = escape_for_terminal(text);
  std::string escaped;
  for (std::size_t at = 0; at < shown.size(); ++at) append_for_markdown(escaped, shown, at);
  for (const std::string_view start : {"://", "www", "WWW", "GH-"}) {
    // Between the first character and the rest, or after it: either way the word is not seen.
    std::string broken(start.substr(0, 1));
    broken.append(kJoiner).append(start.substr(1));
    escaped = replaced(std::move(escaped), start, broken);
  }
  return without_block_start(std::move(escaped));
}

std::string markdown_code(std::string_view text) {
  const std::string shown = escape_for_terminal(text);
  if (shown.empty()) return {};
  const bool is_simple = shown.find_first_of("`|") == std::string::npos && shown.front() != ' ' && shown.back() != ' ';
  return is_simple ? '`' + shown + '`' : html_code(shown);
}

std::string escape_for_github(std::string_view text) {
  return replaced(escape_for_terminal(text), "%", "%25");
}

std::string escape_for_github_property(std::string_view text) {
  return replaced(replaced(escape_for_github(text), ":", "%3A"), ",", "%2C");
}

std::string escape_for_sarif(std::string_view text) {
  std::string escaped = escape_for_terminal(text);
  if (escaped.find("](") != std::string::npos) {
    for (const std::string_view bracket : {"\\", "[", "]"}) {
      escaped = replaced(std::move(escaped), bracket, '\\' + std::string(bracket));
    }
  }
  const auto is_placeholder = [](char brace, char after) { return brace == '{' && is_digit(after); };
  if (std::ranges::adjacent_find(escaped, is_placeholder) != escaped.end()) {
    escaped = replaced(replaced(std::move(escaped), "{", "{{"), "}", "}}");
  }
  return escaped;
}

std::string escape_for_prometheus(std::string_view text) {
  return replaced(replaced(escape_for_terminal(text), "\\", "\\\\"), "\"", "\\\"");
}

std::string uri_of_path(std::string_view path) {
  constexpr std::string_view kUnreserved = "-._~/";
  std::string uri;
  for (const char c : path) {
    const bool is_ascii = (static_cast<unsigned char>(c) & 0x80u) == 0;
    if ((is_ascii && is_alphanumeric(c)) || kUnreserved.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      fmt::format_to(std::back_inserter(uri), "%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return uri;
}

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
