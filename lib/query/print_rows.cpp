#include "query/print_rows.h"

#include <memory>
#include <string>
#include <vector>

#include "base/try.h"

namespace doctor {
namespace {

constexpr std::size_t kMeasuredRows = 1'000;

/// Keeps the memory that a cell has from the row before.
void assign(Cell& cell, const QueryValue& value) {
  switch (value.type) {
    case ValueType::null:
      cell = std::monostate();
      return;
    case ValueType::integer:
      cell = value.integer;
      return;
    case ValueType::real:
      cell = value.real;
      return;
    case ValueType::blob:
      cell = Blob{std::string(value.bytes)};
      return;
    case ValueType::text:
      break;
  }
  if (auto* const text = std::get_if<std::string>(&cell)) {
    text->assign(value.bytes);
  } else {
    cell = std::string(value.bytes);
  }
}

}  // namespace

Result<void> print_rows(UserQuery& query, TableFormat format, PageWidth width, OutputBuffer& output,
                        std::size_t most_rows) {
  const std::vector<std::string> names = query.columns();
  std::vector<Column> columns;
  columns.reserve(names.size());
  for (const std::string& name : names) columns.push_back({name, name, ColumnKind::any});
  const std::unique_ptr<TableSink> sink =
      make_table_sink(format, std::move(columns), {width, kMeasuredRows, "tfdata-doctor.query/1"}, output.text);
  std::vector<Cell> row(names.size());
  for (std::size_t count = 0; count < most_rows && !output.has_failed(); ++count) {
    ASSIGN_OR_RETURN(const bool has_row, query.next());
    if (!has_row) break;
    for (std::size_t column = 0; column < row.size(); ++column) assign(row[column], query.value(column));
    sink->add(row);
    output.end_piece();
  }
  sink->finish();
  return {};
}

}  // namespace doctor
