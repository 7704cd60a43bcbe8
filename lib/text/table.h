#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <variant>

#include "base/result.h"
#include "text/columns.h"
#include "text/json_page.h"

namespace doctor {

// Rows of values on their way to a document, one by one: every table that is printed goes through here.

enum class ColumnKind : std::uint8_t {
  text,    ///< foreign text, which is escaped here; long ones lose their middle on a page for a person
  path,    ///< of a file, to paste into a shell: on such a page never cut and quoted; the last column only
  rank,    ///< a place in an order: the smallest first
  count,   ///< a whole number
  bytes,   ///< likewise; on a page for a person in the unit that fits: "1.5 MB"
  hidden,  ///< likewise; not on such a page
  time,    ///< Picoseconds; microseconds in CSV and JSON, so the key ends in _us
  share,   ///< between 0 and 1; percent on a page for a person
  number,
  hours,  ///< a number; on a page for a person in the unit that fits: "35.2 s"
  flag,   ///< true or false
  any,    ///< each cell says what it is, as in the result of a query
};

/// What a column does where the page is too narrow for all of them.
enum class Fit : std::uint8_t {
  keep,     ///< stays as wide as it is: numbers
  shorten,  ///< cells lose their middle: names
  wrap,     ///< cells go on in further lines: sentences; the last column only
  paste,    ///< is never cut and moves to a line of its own: what is pasted into a shell; the last column only
};

struct Column {
  std::string_view key;    ///< in CSV and JSON and for --sort: snake_case with the unit
  std::string_view title;  ///< on a page for a person
  ColumnKind kind = ColumnKind::text;
  bool is_left_out_if_zero = false;  ///< on such a page, where no row has anything but 0 or nothing in it
  std::uint8_t spare = 0;            ///< TextColumn::spare
  std::string_view unknown = "-";    ///< on such a page, in place of nothing
  std::optional<Fit> fit = {};       ///< on such a page, where it is not the usual one of the kind
};

/// Bytes that are not text.
struct Blob {
  std::string bytes;

  friend bool operator==(const Blob& a, const Blob& b) { return a.bytes == b.bytes; }
  friend bool operator<(const Blob& a, const Blob& b) { return a.bytes < b.bytes; }
};

/// A value as the kind of its column wants it: text and path a string; rank, count and time an integer; share and
/// number a double; flag a bool. Nothing where it is not known.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool, Blob>;

template <typename Value>
Cell cell_or_unknown(const std::optional<Value>& value) {
  return value ? Cell(*value) : Cell();
}
/// Nothing for an empty text.
inline Cell text_cell(std::string text) {
  return text.empty() ? Cell() : Cell(std::move(text));
}
/// A number that an integer holds.
template <typename Count>
Cell count_cell(Count count) {
  return static_cast<std::int64_t>(count);
}

inline bool is_unknown(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell);
}

enum class TableFormat : std::uint8_t {
  text,
  csv,
  json,  ///< a page with `columns`, and an object for each row in `rows`; a key that comes again gets a number
  markdown,
};

struct TableStyle {
  PageWidth width = {};  ///< of text
  /// Rows kept in memory to find the widths of the columns of text; further rows are printed as they come.
  std::size_t measured_rows = SIZE_MAX;
  std::string_view schema = {};  ///< of a JSON page
};

class TableSink {
 public:
  virtual ~TableSink() = default;
  TableSink(const TableSink&) = delete;
  TableSink& operator=(const TableSink&) = delete;

  /// A cell for each column.
  virtual void add(const std::vector<Cell>& row) = 0;
  virtual void finish() {}

 protected:
  TableSink(std::vector<Column> columns, std::string& out) : columns_(std::move(columns)), out_(out) {}

  std::vector<Column> columns_;
  std::string& out_;
};

/// Appends to `out`; the caller may take what is there at any time.
std::unique_ptr<TableSink> make_table_sink(TableFormat format, std::vector<Column> columns, const TableStyle& style,
                                           std::string& out);

// The pages that are tables: one set of rows, printed for a terminal, as CSV or as JSON.

struct DataTable {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< each with a cell for every column
};

/// A column together with what it shows of a thing that has a row: a member, or a function of the thing.
template <typename Thing>
struct Field {
  Column column;
  std::function<Cell(const Thing&)> cell;
};

/// A row for each of these things.
template <typename Thing, typename Things>
DataTable table_of(const std::vector<Field<Thing>>& fields, const Things& things) {
  DataTable table;
  for (const Field<Thing>& field : fields) table.columns.push_back(field.column);
  for (const Thing& thing : things) {
    std::vector<Cell>& row = table.rows.emplace_back();
    for (const Field<Thing>& field : fields) row.push_back(field.cell(thing));
  }
  return table;
}

/// A table for programs alone: columns of times where keys end in _us, else of ColumnKind::any.
DataTable table_with(std::initializer_list<std::string_view> keys);

/// Which rows of a table are printed in which order.
struct RowChoice {
  std::optional<std::string> sort;  ///< key of a column: largest numbers first, texts from A to Z; else the given order
  std::optional<std::size_t> top;   ///< how many; nullopt: all
};

/// Sorts and cuts the rows. Equals keep their order, unknown values come last. Errors: no such column.
Result<void> choose_rows(DataTable& table, const RowChoice& choice);

/// Lines for a terminal, the titles first.
std::string table_text(const DataTable& table, PageWidth width = {});

/// The rows of a page, with what is said beside them.
struct PageRows {
  DataTable table;
  std::string note = {};                      ///< a line above the rows in text, foreign; empty: none
  std::optional<std::size_t> row_count = {};  ///< of a table that was made without rows that are not shown anyway

  /// How many rows are not in the table.
  std::size_t left_out() const { return row_count.value_or(table.rows.size()) - table.rows.size(); }
};

/// The rows as text, below their note; below them how many are missing.
std::string rows_text(const PageRows& rows, PageWidth width = {});

/// A page of JSON: schema, tool and `rows`, and how many are missing, if any.
OrderedJson table_page_json(const PageRows& rows, std::string_view schema);

/// The table for a page in Markdown.
std::string table_markdown(const DataTable& table);

/// A header of keys and a line for each row.
std::string table_csv(const DataTable& table);

/// The value of `rows`: an object for each row, its keys those of the columns.
OrderedJson table_json(const DataTable& table);

// Tables of finished words for a terminal: what TableFormat::text is laid out by.

enum class Align : std::uint8_t { left, right };

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
