#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/columns.h"

namespace doctor {

// Rows of values on their way to a document, one by one: every table that is printed goes through here.

enum class ColumnKind : std::uint8_t {
  text,   ///< foreign text, which is escaped here; long ones lose their middle on a page for a person
  path,   ///< of a file, to paste into a shell: on such a page never cut and quoted; the last column only
  rank,   ///< a place in an order: the smallest first
  count,  ///< a whole number
  time,   ///< Picoseconds; microseconds in CSV and JSON, so the key ends in _us
  share,  ///< between 0 and 1; percent on a page for a person
  number,
  hours,  ///< a number; on a page for a person in the unit that fits: "35.2 s"
  flag,   ///< true or false
  any,    ///< each cell says what it is, as in the result of a query
};

struct Column {
  std::string_view key;    ///< in CSV and JSON and for --sort: snake_case with the unit
  std::string_view title;  ///< on a page for a person
  ColumnKind kind = ColumnKind::text;
  bool is_left_out_if_zero = false;  ///< on such a page, where no row has anything but 0 or nothing in it
  std::uint8_t spare = 0;            ///< TextColumn::spare
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

}  // namespace doctor
