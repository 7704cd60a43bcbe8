#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "report/json_values.h"

namespace doctor {

// The pages that are tables: one set of rows, printed for a terminal, as CSV or as JSON.

enum class ColumnKind : std::uint8_t {
  text,   ///< foreign text, which is escaped here; long ones lose their middle on a terminal
  rank,   ///< a place in an order: the smallest first
  count,  ///< a whole number
  time,   ///< Picoseconds; microseconds in CSV and JSON, so the key ends in _us
  share,  ///< between 0 and 1; percent on a terminal
  number,
  flag,  ///< true or false
};

struct Column {
  std::string_view key;    ///< in CSV and JSON and for --sort: snake_case with the unit
  std::string_view title;  ///< on a terminal
  ColumnKind kind = ColumnKind::text;
  bool is_left_out_if_zero = false;  ///< on a terminal, where no row has anything but 0 in it
};

/// A value as the kind of its column wants it: text a string; rank, count and time an integer; share and number a
/// double; flag a bool. Nothing where it is not known.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

struct DataTable {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< each with a cell for every column
};

/// Which rows of a table are printed in which order.
struct RowChoice {
  std::optional<std::string> sort;  ///< key of a column: largest numbers first, texts from A to Z; else the given order
  std::optional<std::size_t> top;   ///< how many; nullopt: all
};

/// Sorts and cuts the rows. Equals keep their order, unknown values come last. Errors: no such column.
Result<void> choose_rows(DataTable& table, const RowChoice& choice);

/// Lines for a terminal, the titles first.
std::string table_text(const DataTable& table);

/// The same as a page: `note` above (foreign text; empty: none), and below how many of `row_count` rows are missing.
std::string render_table_text(const DataTable& table, std::string_view note, std::size_t row_count);

/// A page of JSON: schema, tool and `rows`.
std::string render_table_json(const DataTable& table, std::string_view schema);

/// The same for a page in Markdown.
std::string table_markdown(const DataTable& table);

/// A header of keys and a line for each row.
std::string table_csv(const DataTable& table);

/// The value of `rows`: an object for each row, its keys those of the columns.
OrderedJson table_json(const DataTable& table);

}  // namespace doctor
