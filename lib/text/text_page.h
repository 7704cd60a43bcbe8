#pragma once

#include "text/columns.h"

namespace doctor {

/// How much a page for a person says.
enum class Detail {
  verdict,  ///< the first line only
  screen,   ///< at most one screen
  full,     ///< with the evidence of every finding and what could not be evaluated
};

struct TextStyle {
  bool color = false;
  PageWidth width = {};
  Detail detail = Detail::screen;
  std::vector<std::string> rerun = {"TRACE"};  ///< what names the same traces to another command: each a shell_word()
};

enum class Tone { plain, good, bad, unsure };

/// A page of labelled rows for a terminal. Every text that is handed in is escaped here, so no renderer can forget it.
class TextPage {
 public:
  static constexpr std::size_t kLabelWidth = 10;

  explicit TextPage(bool color, PageWidth width = {}, std::size_t label_width = kLabelWidth)
      : color_(color), width_(width), label_width_(label_width) {}

  /// The first line: `status` stands out, in the colour of `tone`.
  void headline(std::string_view status, std::string_view text, Tone tone);

  /// A row, wrapped at word ends. A label equal to that of the row above is left out.
  void row(std::string_view label, std::string_view text) { row(label, {}, text); }
  /// A row with a second column of `lead_width` columns before the text, which wraps beside it, or below it where
  /// the page is too narrow.
  void row(std::string_view label, std::string_view lead, std::string_view text, std::size_t lead_width = 0);

  /// A row whose text stands out, with a tag in brackets at the right end.
  void titled_row(std::string_view label, std::string_view title, std::string_view tag);

  /// Lines of code below a row, indented more than its text.
  void code(const std::vector<std::string>& lines);

  /// What a change brings, below its row: of the three parts, joined as they are, the second stands out.
  void gain(std::string_view before, std::string_view after, std::string_view rest);

  /// A command to paste. Where it is long each operand stands on a line of its own, after a backslash; where there are
  /// very many they are counted. What is foreign in them comes from shell_word().
  void command(std::string_view label, std::string_view command, const std::vector<std::string>& operands = {},
               std::size_t most_operands = 2);

  /// Lines that are kept as they are (code), indented to the column of the rows' text.
  void lines(std::string_view label, std::string_view text);

  /// Two parts of a page are never more than one empty line apart.
  void empty_line() {
    if (!page_.ends_with("\n\n")) page_ += '\n';
  }

  std::string take() { return std::move(page_); }

 private:
  void start_row(std::string_view label);
  std::string in_code_color(const std::string& line) const;
  std::size_t text_column() const;
  std::size_t width() const;

  bool color_;
  PageWidth width_;
  std::size_t label_width_;
  std::string last_label_;
  std::string page_;
};

/// The columns that code takes beside the labels of a page of 80 columns. A narrower or wider terminal changes nothing:
/// code that is pasted has its line breaks.
inline constexpr std::size_t kCodeWidth = 68;

/// Lines of Python, each of at most `width` columns where it can be broken: inside of brackets, after a comma or an
/// opening bracket, and before a comment.
std::vector<std::string> code_lines(std::string_view code, std::size_t width);

}  // namespace doctor
