#pragma once

#include <string>
#include <string_view>

namespace doctor {

enum class Tone { plain, good, bad, unsure };

/// A page of labelled rows for a terminal. Every text that is handed in is escaped here, so no renderer can forget it.
class TextPage {
 public:
  explicit TextPage(bool color) : color_(color) {}

  /// The first line: `status` stands out, in the colour of `tone`.
  void headline(std::string_view status, std::string_view text, Tone tone);

  /// A row, wrapped at word ends. A label equal to that of the row above is left out.
  void row(std::string_view label, std::string_view text) { row(label, {}, text); }
  /// The same with a second column of `width` characters before the text, which wraps beside it.
  void row(std::string_view label, std::string_view lead, std::string_view text, std::size_t width = 0);

  /// Lines that are kept as they are (code), indented to the column of the rows' text.
  void lines(std::string_view label, std::string_view text);

  void empty_line() { page_ += '\n'; }

  std::string take() { return std::move(page_); }

 private:
  void start_row(std::string_view label);

  bool color_;
  std::string last_label_;
  std::string page_;
};

}  // namespace doctor
