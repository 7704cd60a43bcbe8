#include "text/data_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/time.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// Whether `a` comes before `b` in a column of this kind.
bool comes_before(ColumnKind kind, const Cell& a, const Cell& b) {
  if (is_unknown(a) || is_unknown(b)) return !is_unknown(a);
  const bool is_ascending = kind == ColumnKind::text || kind == ColumnKind::path || kind == ColumnKind::rank;
  return is_ascending ? a < b : b < a;
}

OrderedJson cell_json(ColumnKind kind, const Cell& cell) {
  if (is_unknown(cell)) return nullptr;
  if (kind == ColumnKind::time) return to_microseconds(std::get<std::int64_t>(cell));
  if (const auto* const text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* const count = std::get_if<std::int64_t>(&cell)) return *count;
  if (const auto* const flag = std::get_if<bool>(&cell)) return *flag;
  return std::get<double>(cell);
}

std::string key_list(const DataTable& table) {
  std::string list;
  for (const Column& column : table.columns) list += (list.empty() ? "" : ", ") + std::string(column.key);
  return list;
}

std::string written(const DataTable& table, TableFormat format, PageWidth width) {
  std::string text;
  const std::unique_ptr<TableSink> sink = make_table_sink(format, table.columns, {width}, text);
  for (const std::vector<Cell>& row : table.rows) sink->add(row);
  sink->finish();
  return text;
}

/// The table as a person gets it.
DataTable without_zero_columns(const DataTable& table) {
  DataTable shown = table;
  for (std::size_t index = table.columns.size(); index-- > 0;) {
    const bool is_zero = std::ranges::all_of(table.rows, [&](const std::vector<Cell>& row) {
      return is_unknown(row[index]) || row[index] == Cell(std::int64_t{0});
    });
    if (!table.columns[index].is_left_out_if_zero || !is_zero) continue;
    const auto place = static_cast<std::ptrdiff_t>(index);
    shown.columns.erase(shown.columns.begin() + place);
    for (std::vector<Cell>& row : shown.rows) row.erase(row.begin() + place);
  }
  return shown;
}

}  // namespace

Result<void> choose_rows(DataTable& table, const RowChoice& choice) {
  if (choice.sort) {
    const auto column =
        std::ranges::find_if(table.columns, [&](const Column& candidate) { return candidate.key == *choice.sort; });
    if (column == table.columns.end()) {
      return fail("no column '" + *choice.sort + "'", "--sort", "the columns are: " + key_list(table));
    }
    const auto index = static_cast<std::size_t>(column - table.columns.begin());
    std::ranges::stable_sort(
        table.rows, [&](const auto& a, const auto& b) { return comes_before(column->kind, a[index], b[index]); });
  }
  if (choice.top && *choice.top < table.rows.size()) table.rows.resize(*choice.top);
  return {};
}

std::string table_text(const DataTable& table, PageWidth width) {
  return written(without_zero_columns(table), TableFormat::text, width);
}

std::string render_table_text(const DataTable& table, std::string_view note, std::size_t row_count, PageWidth width) {
  std::string page;
  if (!note.empty()) page = fitted_lines(escape_for_terminal(note), width) + "\n\n";
  page += table_text(table, width);
  const std::size_t left = row_count - table.rows.size();
  if (left > 0) page += fmt::format("... and {} (--top 0 shows all)\n", format_count(left, "more row"));
  return page;
}

OrderedJson table_page_json(const DataTable& table, std::string_view schema, std::size_t row_count) {
  OrderedJson page = {{"schema", schema}, {"tool", tool_json()}};
  page["rows"] = table_json(table);
  if (table.rows.size() < row_count) page["rows_left_out"] = row_count - table.rows.size();
  return page;
}

std::string table_markdown(const DataTable& table) {
  return written(without_zero_columns(table), TableFormat::markdown, {});
}

std::string table_csv(const DataTable& table) {
  return written(table, TableFormat::csv, {});
}

OrderedJson table_json(const DataTable& table) {
  OrderedJson rows = OrderedJson::array();
  for (const std::vector<Cell>& row : table.rows) {
    OrderedJson object = OrderedJson::object();
    for (std::size_t index = 0; index < row.size(); ++index) {
      object[std::string(table.columns[index].key)] = cell_json(table.columns[index].kind, row[index]);
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

}  // namespace doctor
