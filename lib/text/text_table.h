#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/columns.h"

namespace doctor {

enum class Align : std::uint8_t { left, right };

/// What a column does where the page is too narrow for all of them.
enum class Fit : std::uint8_t {
  keep,     ///< stays as wide as it is: numbers
  shorten,  ///< cells lose their middle: names
  wrap,     ///< cells go on in further lines: sentences; the last column only
  paste,    ///< is never cut and moves to a line of its own: what is pasted into a shell; the last column only
};

struct TextColumn {
  std::string title;
  Align align = Align::left;
  Fit fit = Fit::keep;
  std::uint8_t spare = 0;  ///< how well the page can do without it: the greatest is left out first, of equals the last
};

/// Cells are text for a terminal, escaped already; a row has one for each column.
using TextRow = std::vector<std::string>;

/// The columns of a table side by side, two blanks apart.
class TableLayout {
 public:
  /// `widths`: columns of the widest cell or title of each. A page that is too narrow gets what is to be pasted on
  /// lines of its own, then shorter sentences and names, then fewer columns, but always the first.
  TableLayout(std::vector<TextColumn> columns, std::vector<std::size_t> widths, PageWidth page);

  /// The line of titles; empty if no column has one.
  std::string titles() const;
  std::string row(const TextRow& cells) const;
  /// A line that says which columns were left out; empty if none was.
  std::string note() const;

 private:
  std::size_t total() const;
  bool fits() const { return !page_ || total() <= *page_; }
  bool is_last_shown() const { return shown_.back() + 1 == columns_.size(); }
  void make_fit();
  void shorten(std::size_t least_name);
  void leave_one_out();
  void append(std::string& line, std::size_t column, const std::string& cell) const;

  std::vector<TextColumn> columns_;
  std::vector<std::size_t> natural_;  ///< indexed as columns_
  std::vector<std::size_t> widths_;   ///< likewise
  PageWidth page_;
  std::vector<std::size_t> shown_;     ///< indices of the columns side by side
  std::vector<std::size_t> left_out_;  ///< and of those that are not on the page
  bool is_last_below_ = false;         ///< the last column has lines of its own
};

/// A table with its titles, each column as wide as its widest cell. Without them, the titles are for note() alone.
/// `strong`: the row that is bold in a terminal; none: no row is.
std::string text_table(std::vector<TextColumn> columns, const std::vector<TextRow>& rows, PageWidth page = {},
                       bool has_titles = true, std::optional<std::size_t> strong = {});

}  // namespace doctor
