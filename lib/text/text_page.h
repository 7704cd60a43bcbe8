#pragma once

#include <string>
#include <string_view>

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
  std::string rerun = "TRACE";  ///< what names the same traces to another command, each word as a shell_word()
};

enum class Tone { plain, good, bad, unsure };

/// What stands out in a row, where there is colour.
enum class Emphasis {
  none,
  code,        ///< the row is code to take over
  first_word,  ///< the row begins with the number that counts
};

/// A page of labelled rows for a terminal. Every text that is handed in is escaped here, so no renderer can forget it.
class TextPage {
 public:
  explicit TextPage(bool color, PageWidth width = {}) : color_(color), width_(width) {}

  /// The first line: `status` stands out, in the colour of `tone`.
  void headline(std::string_view status, std::string_view text, Tone tone);

  /// A row, wrapped at word ends. A label equal to that of the row above is left out.
  void row(std::string_view label, std::string_view text) { row(label, {}, text); }
  /// The same with something in it that stands out.
  void row(std::string_view label, std::string_view text, Emphasis emphasis) { add_row(label, {}, text, 0, emphasis); }
  /// The same with a second column of `lead_width` columns before the text, which wraps beside it, or below it where
  /// the page is too narrow.
  void row(std::string_view label, std::string_view lead, std::string_view text, std::size_t lead_width = 0);

  /// A command to paste: kept on one line, however long. What is foreign in it comes from shell_word().
  void command(std::string_view label, std::string_view command);

  /// Lines that are kept as they are (code), indented to the column of the rows' text.
  void lines(std::string_view label, std::string_view text);

  void empty_line() { page_ += '\n'; }

  std::string take() { return std::move(page_); }

 private:
  void add_row(std::string_view label, std::string_view lead, std::string_view text, std::size_t lead_width,
               Emphasis emphasis);
  void start_row(std::string_view label);
  std::string emphasized(const std::string& line, Emphasis emphasis, bool is_first) const;
  std::size_t width() const;

  bool color_;
  PageWidth width_;
  std::string last_label_;
  std::string page_;
};

}  // namespace doctor
