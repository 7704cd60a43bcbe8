#include "report/text_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/escape.h"

namespace doctor {
namespace {

constexpr std::size_t kPageWidth = 110;
constexpr std::size_t kLabelWidth = 10;
constexpr std::size_t kIndent = 2 + kLabelWidth;

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kReset = "\x1b[0m";

std::string_view color_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "\x1b[1;32m";
    case Tone::bad:
      return "\x1b[1;31m";
    case Tone::unsure:
      return "\x1b[1;33m";
    case Tone::plain:
      break;
  }
  return kBold;
}

/// Breaks at blanks into lines of at most `width` characters; a longer word (a long name) stays whole.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    const std::size_t characters = character_count(word);
    if (used > 0 && used + 1 + characters > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) lines.back() += ' ';
    lines.back() += word;
    used += (used > 0 ? 1 : 0) + characters;
  }
  return lines;
}

}  // namespace

void TextPage::headline(std::string_view status, std::string_view text, Tone tone) {
  const std::string shown = escape_for_terminal(status);
  page_ += color_ ? fmt::format("{}{}{}", color_of(tone), shown, kReset) : shown;
  page_ += fmt::format(": {}\n", escape_for_terminal(text));
}

void TextPage::start_row(std::string_view label) {
  const std::string_view shown = label == last_label_ ? std::string_view() : label;
  const std::string padded = fmt::format("  {:<{}}", shown, kLabelWidth);
  page_ += color_ ? fmt::format("{}{}{}", kDim, padded, kReset) : padded;
  last_label_ = label;
}

void TextPage::row(std::string_view label, std::string_view lead, std::string_view text, std::size_t width) {
  const std::string shown_lead = escape_for_terminal(lead);
  const std::size_t indent = kIndent + width;
  bool is_first = true;
  for (const std::string& line : wrapped(escape_for_terminal(text), kPageWidth - std::min(indent, kPageWidth / 2))) {
    if (is_first) {
      start_row(label);
      page_ += fmt::format("{:<{}}{}\n", shown_lead, width, line);
    } else {
      page_ += fmt::format("{:{}}{}\n", "", indent, line);
    }
    is_first = false;
  }
}

void TextPage::lines(std::string_view label, std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    if (length > 0) start_row(label);
    page_ += escape_for_terminal(text.substr(0, length)) + "\n";
    text.remove_prefix(std::min(length + 1, text.size()));
  }
}

}  // namespace doctor
