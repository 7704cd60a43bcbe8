#include "report/data_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/numbers.h"
#include "base/time.h"
#include "report/escape.h"
#include "report/text_table.h"

namespace doctor {
namespace {

constexpr std::size_t kCellWidth = 60;

bool is_unknown(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell);
}

/// Whether `a` comes before `b` in a column of this kind.
bool comes_before(ColumnKind kind, const Cell& a, const Cell& b) {
  if (is_unknown(a) || is_unknown(b)) return !is_unknown(a);
  return kind == ColumnKind::text || kind == ColumnKind::rank ? a < b : b < a;
}

std::string cell_text(ColumnKind kind, const Cell& cell) {
  if (is_unknown(cell)) return "-";
  switch (kind) {
    case ColumnKind::text:
      return clip(escape_for_terminal(std::get<std::string>(cell)), kCellWidth);
    case ColumnKind::rank:
    case ColumnKind::count: {
      const std::int64_t count = std::get<std::int64_t>(cell);
      return count < 0 ? std::to_string(count) : format_count(static_cast<std::uint64_t>(count));
    }
    case ColumnKind::time:
      return format_time(std::get<std::int64_t>(cell));
    case ColumnKind::share:
      return format_share(std::get<double>(cell));
    case ColumnKind::number:
      return fmt::format("{:.4g}", std::get<double>(cell));
    case ColumnKind::flag:
      return std::get<bool>(cell) ? "yes" : "no";
  }
  return {};
}

/// Microseconds with all digits: no picosecond is lost, whatever reads it.
std::string exact_microseconds(Picoseconds time) {
  return fmt::format("{}{}.{:06}", time < 0 ? "-" : "", std::abs(time / kPicosecondsPerMicrosecond),
                     std::abs(time % kPicosecondsPerMicrosecond));
}

std::string cell_csv(ColumnKind kind, const Cell& cell) {
  if (is_unknown(cell)) return {};
  switch (kind) {
    case ColumnKind::text:
      return csv_field(std::get<std::string>(cell));
    case ColumnKind::rank:
    case ColumnKind::count:
      return std::to_string(std::get<std::int64_t>(cell));
    case ColumnKind::time:
      return exact_microseconds(std::get<std::int64_t>(cell));
    case ColumnKind::share:
    case ColumnKind::number:
      return fmt::format("{:.9g}", std::get<double>(cell));
    case ColumnKind::flag:
      return std::get<bool>(cell) ? "true" : "false";
  }
  return {};
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

/// The columns that a terminal gets.
std::vector<std::size_t> shown_columns(const DataTable& table) {
  std::vector<std::size_t> shown;
  for (std::size_t index = 0; index < table.columns.size(); ++index) {
    const bool is_zero = std::all_of(table.rows.begin(), table.rows.end(),
                                     [&](const std::vector<Cell>& row) { return row[index] == Cell(std::int64_t{0}); });
    if (!table.columns[index].is_left_out_if_zero || !is_zero) shown.push_back(index);
  }
  return shown;
}

}  // namespace

Result<void> choose_rows(DataTable& table, const RowChoice& choice) {
  if (choice.sort) {
    const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                     [&](const Column& candidate) { return candidate.key == *choice.sort; });
    if (column == table.columns.end()) {
      return fail("no column '" + *choice.sort + "'", "--sort", "the columns are: " + key_list(table));
    }
    const auto index = static_cast<std::size_t>(column - table.columns.begin());
    std::stable_sort(table.rows.begin(), table.rows.end(),
                     [&](const auto& a, const auto& b) { return comes_before(column->kind, a[index], b[index]); });
  }
  if (choice.top && *choice.top < table.rows.size()) table.rows.resize(*choice.top);
  return {};
}

std::string table_text(const DataTable& table) {
  std::vector<Align> alignment;
  std::vector<std::vector<std::string>> rows(1);
  const std::vector<std::size_t> shown = shown_columns(table);
  for (const std::size_t index : shown) {
    const Column& column = table.columns[index];
    const bool is_left = column.kind == ColumnKind::text || column.kind == ColumnKind::flag;
    alignment.push_back(is_left ? Align::left : Align::right);
    rows.front().emplace_back(column.title);
  }
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string>& cells = rows.emplace_back();
    for (const std::size_t index : shown) cells.push_back(cell_text(table.columns[index].kind, row[index]));
  }
  return text_table(alignment, rows);
}

std::string render_table_text(const DataTable& table, std::string_view note, std::size_t row_count) {
  std::string page;
  if (!note.empty()) page = escape_for_terminal(note) + "\n\n";
  if (table.rows.empty() && row_count == 0) return page + "no rows\n";
  page += table_text(table);
  const std::size_t left = row_count - table.rows.size();
  if (left > 0) page += fmt::format("... and {} (--top 0 shows all)\n", format_count(left, "more row"));
  return page;
}

std::string render_table_json(const DataTable& table, std::string_view schema) {
  OrderedJson page = {{"schema", schema}, {"tool", tool_json()}};
  page["rows"] = table_json(table);
  return to_text(page);
}

std::string table_markdown(const DataTable& table) {
  std::string titles = "|";
  std::string rule = "|";
  const std::vector<std::size_t> shown = shown_columns(table);
  for (const std::size_t index : shown) {
    const Column& column = table.columns[index];
    titles += fmt::format(" {} |", column.title);
    rule += column.kind == ColumnKind::text || column.kind == ColumnKind::flag ? "---|" : "---:|";
  }
  std::string text = titles + "\n" + rule + "\n";
  for (const std::vector<Cell>& row : table.rows) {
    text += "|";
    for (const std::size_t index : shown) {
      text += fmt::format(" {} |", escape_for_markdown(cell_text(table.columns[index].kind, row[index])));
    }
    text += "\n";
  }
  return text;
}

std::string table_csv(const DataTable& table) {
  std::string text;
  for (const Column& column : table.columns) text += (text.empty() ? "" : ",") + std::string(column.key);
  text += "\n";
  for (const std::vector<Cell>& row : table.rows) {
    for (std::size_t index = 0; index < row.size(); ++index) {
      text += (index > 0 ? "," : "") + cell_csv(table.columns[index].kind, row[index]);
    }
    text += "\n";
  }
  return text;
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
