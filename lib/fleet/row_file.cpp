#include "fleet/row_file.h"

#include <string_view>

#include "fleet/row_columns.h"

namespace doctor {
namespace {

/// What may stand above the first row: lines that were torn or that another program wrote.
constexpr std::size_t kMostBeforeRows = std::size_t{4} << 20;

bool finds_row(ByteSource& source) {
  LineReader lines(source, kMostBeforeRows);
  for (std::size_t passed = 0; passed < kMostBeforeRows;) {
    const Result<std::optional<Line>> line = lines.next();
    if (!line || !*line) return false;
    passed += (*line)->text.size() + 1;
    // Lines of a trace are not parsed as well.
    const auto names = [&](std::string_view schema) { return (*line)->text.find(schema) != std::string_view::npos; };
    if (!names(kRowSchema) && !names(kRowSchemaBefore)) continue;
    const std::optional<Result<TraceRow>> row = row_in(**line);
    if (row && *row) return true;
  }
  return false;
}

}  // namespace

std::optional<Result<TraceRow>> row_in(const Line& line) {
  if (line.text.find_first_not_of(" \t\r") == std::string_view::npos) return std::nullopt;
  if (line.is_too_long) return fail("is not a row: the line is too long", {});
  return parse_row(line.text);
}

bool holds_rows(ByteSource& source) {
  const bool found = finds_row(source);
  static_cast<void>(source.rewind());
  return found;
}

}  // namespace doctor
