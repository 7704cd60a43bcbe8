#include "text/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "text/utf8.h"

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
  if (code > 0xffff) return std::any_of(kRareLayout.begin(), kRareLayout.end(), has);
  return std::any_of(kLayout.begin(), kLayout.end(), has);
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
  const auto quotes = static_cast<std::size_t>(std::count(text.begin(), text.end(), '"'));
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
  if (std::none_of(field.begin(), field.end(), [](char c) { return c == ',' || c == '"'; })) return field;
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
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
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

}  // namespace doctor
