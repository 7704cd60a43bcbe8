#include "text/text_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/escape.h"

namespace doctor {
namespace {

constexpr std::size_t kUsualWidth = 80;
constexpr std::size_t kWidest = 110;  // longer lines are hard to read
constexpr std::size_t kMargin = 2;
constexpr std::size_t kCodeIndent = 2;  // more than the text's

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kCode = "\x1b[36m";
constexpr std::string_view kNumber = "\x1b[1;32m";
constexpr std::string_view kReset = "\x1b[0m";

std::string_view color_of(Tone tone) {
  using enum Tone;
  return tone == good ? "\x1b[1;32m" : tone == bad ? "\x1b[1;31m" : tone == unsure ? "\x1b[1;33m" : kBold;
}

constexpr std::size_t kIndent = 4;

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// Brackets that are open, and the quote that is.
struct Nesting {
  int depth = 0;
  char quote = 0;

  bool opens(char c) const { return quote == 0 && (c == '(' || c == '[' || c == '{'); }
  void take(char c) {
    if (quote != 0) {
      if (c == quote) quote = 0;
      return;
    }
    if (c == '\'' || c == '"') quote = c;
    if (opens(c)) ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
};

/// Where a comment begins; the line's end where there is none. Quoted text may hold a '#'.
std::size_t comment_of(std::string_view line) {
  Nesting nesting;
  std::size_t at = 0;
  for (; at < line.size() && (nesting.quote != 0 || line[at] != '#'); ++at) nesting.take(line[at]);
  return at;
}

/// The last place within `width` where a line may be broken: after a comma or, where there is none, an opening bracket.
/// 0: there is none.
std::size_t last_break(std::string_view line, std::size_t width, Nesting nesting) {
  std::size_t found = 0;
  bool is_in_lambda = false;  // its arguments belong together
  for (std::size_t at = 0; at < std::min(width, line.size()); ++at) {
    const char c = line[at];
    const bool opens = nesting.opens(c);
    nesting.take(c);
    if (line.substr(at).starts_with("lambda ")) is_in_lambda = true;
    if (c == ':') is_in_lambda = false;
    const bool is_inside = nesting.quote == 0 && nesting.depth > 0 && !is_in_lambda;
    if (is_inside && (c == ',' || (opens && found == 0))) found = at + 1;
  }
  return found;
}

void add_lines(std::string_view line, std::size_t width, Nesting& nesting, std::vector<std::string>& lines) {
  const std::size_t indent = indent_of(line);
  if (const std::size_t comment = comment_of(line); comment < line.size() && comment > indent && line.size() > width) {
    for (const std::string& words : wrapped(line.substr(comment + 1), width - indent - 2, false)) {
      lines.push_back(std::string(indent, ' ') + "# " + words);
    }
    line = line.substr(0, line.find_last_not_of(' ', comment - 1) + 1);
  }
  const std::size_t next_indent = nesting.depth > 0 ? indent : indent + kIndent;
  std::string rest(line);
  while (rest.size() > width) {
    const std::size_t at = last_break(rest, width, nesting);
    if (at <= indent_of(rest) + kIndent || at >= rest.size()) break;
    for (const char c : rest.substr(0, at)) nesting.take(c);
    lines.push_back(rest.substr(0, at));
    rest = std::string(next_indent, ' ') + rest.substr(std::min(rest.find_first_not_of(' ', at), rest.size()));
  }
  for (const char c : rest.substr(0, comment_of(rest))) nesting.take(c);
  lines.push_back(rest);
}

}  // namespace

void TextPage::headline(std::string_view status, std::string_view text, Tone tone) {
  const std::string shown = escape_for_terminal(status);
  const std::string rest = fitted_lines(shown + ": " + escape_for_terminal(text), width_, 2).substr(shown.size());
  page_ += (color_ ? fmt::format("{}{}{}", color_of(tone), shown, kReset) : shown) + rest + "\n";
}

void TextPage::start_row(std::string_view label) {
  const std::string_view shown = label == last_label_ ? std::string_view() : label;
  const std::string padded = fmt::format("{:{}}{:<{}}", "", kMargin, shown, label_width_);
  page_ += color_ ? fmt::format("{}{}{}", kDim, padded, kReset) : padded;
  last_label_ = label;
}

std::string TextPage::in_code_color(const std::string& line) const {
  return color_ && !line.empty() ? fmt::format("{}{}{}", kCode, line, kReset) : line;
}

void TextPage::titled_row(std::string_view label, std::string_view title, std::string_view tag) {
  const std::size_t room = width() - std::min(text_column(), width() / 2);
  std::vector<std::string> lines = wrapped(escape_for_terminal(title), room, false);
  const std::string shown_tag = fmt::format("[{}]", escape_for_terminal(tag));
  // The tag stands at the right end of the last line, or below it where that is full.
  if (column_count(lines.back()) + kMargin + shown_tag.size() > room) lines.emplace_back();
  const std::size_t gap = room - std::min(room, column_count(lines.back()) + shown_tag.size());
  const std::string right =
      std::string(gap, ' ') + (color_ ? fmt::format("{}{}{}", kDim, shown_tag, kReset) : shown_tag);
  start_row(label);
  for (std::size_t line = 0; line < lines.size(); ++line) {
    if (line > 0) page_ += std::string(text_column(), ' ');
    const bool is_last = line + 1 == lines.size();
    page_ += (color_ && !lines[line].empty() ? fmt::format("{}{}{}", kBold, lines[line], kReset) : lines[line]) +
             (is_last ? right : "") + "\n";
  }
}

void TextPage::code(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    const std::string indent = line.empty() ? std::string() : std::string(text_column() + kCodeIndent, ' ');
    page_ += indent + in_code_color(escape_for_terminal(line)) + "\n";
  }
}

void TextPage::gain(std::string_view before, std::string_view after, std::string_view rest) {
  const std::size_t room = width() - std::min(text_column(), width() / 2);
  const std::string text = fmt::format("{}{}{}", before, after, rest);
  std::vector<std::string> lines = wrapped(escape_for_terminal(text), room, false);
  if (color_ && lines.front().size() >= before.size() + after.size()) {
    lines.front().insert(before.size() + after.size(), kReset);
    lines.front().insert(before.size(), kNumber);
  }
  for (const std::string& line : lines) page_ += std::string(text_column(), ' ') + line + "\n";
}

void TextPage::row(std::string_view label, std::string_view lead, std::string_view text, std::size_t lead_width) {
  const std::string shown_lead = escape_for_terminal(lead);
  const bool is_beside = !width_ || text_column() + lead_width <= width() / 2;
  const std::size_t indent = is_beside ? text_column() + lead_width : text_column();
  const std::size_t room = width() - std::min(indent, width() / 2);
  // On a narrow page a long name would be broken by the terminal anyway.
  std::vector<std::string> lines = wrapped(escape_for_terminal(text), room, width_.value_or(kUsualWidth) < kUsualWidth);
  if (is_beside) {
    lines.front().insert(0, fmt::format("{:<{}}", shown_lead, lead_width));
  } else {
    lines.insert(lines.begin(), clip(shown_lead, room));
  }
  start_row(label);
  page_ += lines.front() + "\n";
  for (std::size_t line = 1; line < lines.size(); ++line) {
    page_ += std::string(indent, ' ') + lines[line] + "\n";
  }
}

void TextPage::command(std::string_view label, std::string_view command, const std::vector<std::string>& operands,
                       std::size_t most_operands) {
  // What is longer is broken into lines that can be pasted as one, whatever the terminal's width.
  constexpr std::size_t kLongest = kUsualWidth - 12;
  std::string line = escape_for_terminal(command);
  std::string lines = line;
  for (const std::string& operand : operands) {
    const std::string shown = escape_for_terminal(operand);
    line += " " + shown;
    lines += " \\\n" + std::string(text_column() + kCodeIndent, ' ') + shown;
  }
  start_row(label);
  if (column_count(line) <= kLongest || operands.empty()) {
    page_ += line + "\n";
  } else if (operands.size() <= most_operands) {
    page_ += lines + "\n";
  } else {
    page_ += fmt::format("{} (the same {} traces)\n", escape_for_terminal(command), operands.size());
  }
}

std::size_t TextPage::text_column() const {
  return kMargin + label_width_;
}

std::size_t TextPage::width() const {
  return std::min(width_.value_or(kUsualWidth), kWidest);
}

void TextPage::lines(std::string_view label, std::string_view text) {
  for (const std::string_view line : split_lines(text)) {
    if (!line.empty()) start_row(label);
    page_ += in_code_color(escape_for_terminal(line)) + "\n";
  }
}

std::vector<std::string> code_lines(std::string_view code, std::size_t width) {
  std::vector<std::string> lines;
  Nesting nesting;
  for (const std::string_view line : split_lines(code)) add_lines(line, width, nesting, lines);
  return lines;
}

std::string markdown_code_block(std::string_view lines, std::size_t longest_line) {
  // The fence is longer than any run of backticks in it.
  std::size_t fence = 3;
  std::size_t run = 0;
  for (const char c : lines) {
    run = c == '`' ? run + 1 : 0;
    fence = std::max(fence, run + 1);
  }
  std::string block = std::string(fence, '`') + "python\n";
  for (const std::string_view line : split_lines(lines)) block += clipped(line, longest_line) + "\n";
  return block + std::string(fence, '`') + "\n\n";
}

}  // namespace doctor
