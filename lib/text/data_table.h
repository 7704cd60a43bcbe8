#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/json_page.h"
#include "text/table_sink.h"

namespace doctor {

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

/// Which rows of a table are printed in which order.
struct RowChoice {
  std::optional<std::string> sort;  ///< key of a column: largest numbers first, texts from A to Z; else the given order
  std::optional<std::size_t> top;   ///< how many; nullopt: all
};

/// Sorts and cuts the rows. Equals keep their order, unknown values come last. Errors: no such column.
Result<void> choose_rows(DataTable& table, const RowChoice& choice);

/// Lines for a terminal, the titles first.
std::string table_text(const DataTable& table, PageWidth width = {});

/// The table as a page for a terminal: `note` above (foreign text; empty: none), and below how many of `row_count` rows
/// are missing.
std::string render_table_text(const DataTable& table, std::string_view note, std::size_t row_count,
                              PageWidth width = {});

/// A page of JSON: schema, tool and `rows`, and how many of `row_count` rows are missing, if any.
OrderedJson table_page_json(const DataTable& table, std::string_view schema, std::size_t row_count);

/// The table for a page in Markdown.
std::string table_markdown(const DataTable& table);

/// A header of keys and a line for each row.
std::string table_csv(const DataTable& table);

/// The value of `rows`: an object for each row, its keys those of the columns.
OrderedJson table_json(const DataTable& table);

}  // namespace doctor
