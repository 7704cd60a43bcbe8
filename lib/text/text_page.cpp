#include "text/text_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "text/escape.h"

namespace doctor {
namespace {

constexpr std::size_t kWidest = 110;  // longer lines are hard to read
constexpr std::size_t kLabelWidth = 10;
constexpr std::size_t kIndent = 2 + kLabelWidth;

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kCode = "\x1b[36m";
constexpr std::string_view kNumber = "\x1b[1;32m";
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

}  // namespace

void TextPage::headline(std::string_view status, std::string_view text, Tone tone) {
  const std::string shown = escape_for_terminal(status);
  const std::string rest = fitted_lines(shown + ": " + escape_for_terminal(text), width_, 2).substr(shown.size());
  page_ += (color_ ? fmt::format("{}{}{}", color_of(tone), shown, kReset) : shown) + rest + "\n";
}

void TextPage::start_row(std::string_view label) {
  const std::string_view shown = label == last_label_ ? std::string_view() : label;
  const std::string padded = fmt::format("  {:<{}}", shown, kLabelWidth);
  page_ += color_ ? fmt::format("{}{}{}", kDim, padded, kReset) : padded;
  last_label_ = label;
}

std::string TextPage::emphasized(const std::string& line, Emphasis emphasis, bool is_first) const {
  if (!color_ || emphasis == Emphasis::none || (emphasis == Emphasis::first_word && !is_first)) return line;
  if (emphasis == Emphasis::code) return fmt::format("{}{}{}", kCode, line, kReset);
  const std::size_t end = std::min(line.find(' '), line.size());
  return fmt::format("{}{}{}{}", kNumber, line.substr(0, end), kReset, line.substr(end));
}

void TextPage::row(std::string_view label, std::string_view lead, std::string_view text, std::size_t lead_width) {
  add_row(label, lead, text, lead_width, Emphasis::none);
}

void TextPage::add_row(std::string_view label, std::string_view lead, std::string_view text, std::size_t lead_width,
                       Emphasis emphasis) {
  const std::string shown_lead = escape_for_terminal(lead);
  const bool is_beside = !width_ || kIndent + lead_width <= width() / 2;
  const std::size_t indent = is_beside ? kIndent + lead_width : kIndent;
  const std::size_t room = width() - std::min(indent, width() / 2);
  std::vector<std::string> lines = wrapped(escape_for_terminal(text), room, width_.has_value());
  if (is_beside) {
    lines.front().insert(0, fmt::format("{:<{}}", shown_lead, lead_width));
  } else {
    lines.insert(lines.begin(), clip(shown_lead, room));
  }
  start_row(label);
  page_ += emphasized(lines.front(), emphasis, true) + "\n";
  for (std::size_t line = 1; line < lines.size(); ++line) {
    page_ += std::string(indent, ' ') + emphasized(lines[line], emphasis, false) + "\n";
  }
}

void TextPage::command(std::string_view label, std::string_view command) {
  start_row(label);
  page_ += escape_for_terminal(command) + "\n";
}

std::size_t TextPage::width() const {
  return std::min(width_.value_or(kWidest), kWidest);
}

void TextPage::lines(std::string_view label, std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    if (length > 0) start_row(label);
    page_ += emphasized(escape_for_terminal(text.substr(0, length)), Emphasis::code, true) + "\n";
    text.remove_prefix(std::min(length + 1, text.size()));
  }
}

}  // namespace doctor
