#include "text/columns.h"

#include <algorithm>
#include <array>

#include "text/escape.h"

namespace doctor {
namespace {

// First and last code of ranges, as in Markus Kuhn's wcwidth(), with the blocks of emoji.
constexpr std::array<std::uint32_t, 32> kWide = {
    0x1100, 0x115f, 0x2e80,  0x303e,  0x3041,  0x33ff,  0x3400,  0x4dbf,  0x4e00,  0x9fff, 0xa000,
    0xa4cf, 0xa960, 0xa97f,  0xac00,  0xd7a3,  0xf900,  0xfaff,  0xfe30,  0xfe6f,  0xff00, 0xff60,
    0xffe0, 0xffe6, 0x1f300, 0x1f64f, 0x1f680, 0x1f6ff, 0x1f900, 0x1f9ff, 0x20000, 0x3fffd};
constexpr std::array<std::uint32_t, 16> kCombining = {0x300,  0x36f,  0x483,  0x489,  0x591,  0x5bd,  0x64b,  0x65f,
                                                      0x1ab0, 0x1aff, 0x200b, 0x200d, 0x20d0, 0x20ff, 0xfe00, 0xfe0f};

template <std::size_t Count>
bool is_in(const std::array<std::uint32_t, Count>& ranges, std::uint32_t code) {
  for (std::size_t index = 0; index < Count; index += 2) {
    if (code >= ranges[index] && code <= ranges[index + 1]) return true;
  }
  return false;
}

struct Character {
  std::size_t length = 1;  ///< in bytes
  std::size_t columns = 1;
};

Character first_character(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80) return {};
  const Utf8Character character = first_utf8_character(text);
  if (character.length == 0) return {};
  return {character.length, is_in(kCombining, character.code) ? 0U : is_in(kWide, character.code) ? 2U : 1U};
}

/// Length in bytes of the start of the text that has at most `width` columns.
std::size_t head_length(std::string_view text, std::size_t width) {
  std::size_t length = 0;
  for (std::size_t used = 0; length < text.size();) {
    const Character next = first_character(text.substr(length));
    used += next.columns;
    if (used > width) break;
    length += next.length;
  }
  return length;
}

/// Where the end of the text begins that has at most `width` columns.
std::size_t tail_begin(std::string_view text, std::size_t width) {
  std::size_t begin = text.size();
  for (std::size_t used = 0; begin > 0;) {
    std::size_t before = begin - 1;
    while (before > 0 && is_utf8_continuation(text[before])) --before;
    used += first_character(text.substr(before)).columns;
    if (used > width) break;
    begin = before;
  }
  return begin;
}

/// Length in bytes of the part of a word that a line of `width` columns takes: up to a separator in its second half.
std::size_t piece_length(std::string_view word, std::size_t width) {
  const std::size_t most = std::max<std::size_t>(head_length(word, width), 1);
  if (most == word.size()) return most;
  const std::size_t separator = word.substr(0, most).find_last_of(":/_.,=-");
  return separator == std::string_view::npos || separator < most / 2 ? most : separator + 1;
}

struct ChartSign {
  std::string_view sign;
  char ascii;
};

constexpr std::array<ChartSign, 19> kChartSigns = {{{"▁", '_'},
                                                    {"▂", '.'},
                                                    {"▃", '-'},
                                                    {"▄", '='},
                                                    {"▅", '+'},
                                                    {"▆", '*'},
                                                    {"▇", '%'},
                                                    {"█", '#'},
                                                    {"░", '-'},
                                                    {"▒", '='},
                                                    {"▓", '+'},
                                                    {"·", '.'},
                                                    {"▏", '.'},
                                                    {"▎", '.'},
                                                    {"▍", '-'},
                                                    {"▌", '-'},
                                                    {"▋", '='},
                                                    {"▊", '='},
                                                    {"▉", '='}}};

bool is_ascii(char character) {
  return static_cast<unsigned char>(character) < 0x80;
}

std::string ascii_of(std::string_view character) {
  const auto* const found = std::ranges::find(kChartSigns, character, &ChartSign::sign);
  return found != kChartSigns.end() ? std::string(1, found->ascii) : std::string(column_count(character), '?');
}

}  // namespace

std::size_t column_count(std::string_view escaped) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < escaped.size();) {
    const Character next = first_character(escaped.substr(at));
    columns += next.columns;
    at += next.length;
  }
  return columns;
}

std::string clip(std::string_view escaped, std::size_t width) {
  constexpr std::string_view kGap = "...";
  if (column_count(escaped) <= width) return std::string(escaped);
  const std::size_t kept = width > kGap.size() ? width - kGap.size() : 0;
  // The end of a name says more than its start, so the odd column is the end's.
  const std::size_t head = head_length(escaped, kept / 2);
  const std::size_t tail = tail_begin(escaped, kept - kept / 2);
  return std::string(escaped.substr(0, head)).append(kGap).append(escaped.substr(tail));
}

std::string clipped(std::string_view foreign, std::size_t width) {
  return clip(escape_for_terminal(foreign), width);
}

std::vector<std::string> wrapped(std::string_view escaped, std::size_t width, bool breaks_words) {
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  while (!escaped.empty()) {
    const std::size_t length = std::min(escaped.find(' '), escaped.size());
    std::string_view word = escaped.substr(0, length);
    escaped.remove_prefix(std::min(length + 1, escaped.size()));
    std::size_t columns = column_count(word);
    if (used > 0 && used + 1 + columns > width) {
      lines.emplace_back();
      used = 0;
    }
    for (; breaks_words && columns > width && word.size() > 1; columns = column_count(word)) {
      const std::size_t piece = piece_length(word, width);
      lines.back() += word.substr(0, piece);
      word.remove_prefix(piece);
      if (word.empty()) break;
      lines.emplace_back();
    }
    if (used > 0) lines.back() += ' ';
    lines.back() += word;
    used += (used > 0 ? 1 : 0) + columns;
  }
  return lines;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

std::string fitted_lines(std::string_view escaped, PageWidth width, std::size_t indent) {
  if (!width) return std::string(escaped);
  std::string text;
  while (!escaped.empty()) {
    const std::size_t length = std::min(escaped.find('\n'), escaped.size());
    const std::string_view line = escaped.substr(0, length);
    const std::size_t begin = std::min({line.find_first_not_of(' '), line.size(), *width / 2});
    const bool fits = column_count(line) <= *width;
    if (fits) {
      text += line;
    } else {
      const std::size_t room = *width - std::min(std::max(begin, indent), *width / 2);
      std::string blanks(begin, ' ');
      for (const std::string& part : wrapped(line.substr(begin), room, /*breaks_words=*/true)) {
        text.append(blanks).append(part);
        blanks = "\n" + std::string(std::min(indent, *width / 2), ' ');
      }
    }
    if (length < escaped.size()) text += '\n';
    escaped.remove_prefix(std::min(length + 1, escaped.size()));
  }
  return text;
}

std::vector<std::string> area_chart(const std::vector<double>& values, std::size_t height) {
  static constexpr std::array<std::string_view, 9> kLevels = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kEighths = kLevels.size() - 1;
  std::vector<std::string> lines(height);
  const double greatest = values.empty() ? 0 : *std::ranges::max_element(values);
  for (const double value : values) {
    const double filled = greatest > 0 ? value / greatest * static_cast<double>(height * kEighths) : 0;
    const auto eighths = static_cast<std::size_t>(value > 0 ? std::max(filled + 0.5, 1.0) : 0);
    for (std::size_t line = 0; line < height; ++line) {
      const std::size_t below = (height - 1 - line) * kEighths;
      lines[line] += kLevels[std::min(eighths - std::min(eighths, below), kEighths)];
    }
  }
  return lines;
}

std::string in_ascii(std::string text) {
  if (std::ranges::all_of(text, is_ascii)) return text;
  std::string ascii;
  ascii.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (is_ascii(text[at])) {
      ascii += text[at];
    } else {
      while (end < text.size() && is_utf8_continuation(text[end])) ++end;
      ascii += ascii_of(std::string_view(text).substr(at, end - at));
    }
    at = end;
  }
  return ascii;
}

}  // namespace doctor
