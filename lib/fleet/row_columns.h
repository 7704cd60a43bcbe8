#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace doctor {

enum class RowType : std::uint8_t {
  text,
  integer,  ///< never negative, below 2^63
  real,
  boolean,
  timestamp,  ///< text as in RFC 3339, in UTC with microseconds: "2026-11-22T08:28:02.000000Z"
  records,    ///< a list of objects, never null
};

/// A column of the lines that `batch` writes.
struct RowColumn {
  std::string_view name;
  RowType type = RowType::text;
  bool is_nullable = false;
  std::string_view unit;  ///< "us", "bytes", "0..1"; empty for a plain value
  std::string_view meaning;
  std::span<const RowColumn> fields = {};  ///< of the records
};

/// The first column of each line.
inline constexpr std::string_view kRowSchema = "tfdata-doctor.row/2";
/// Rows of the version before, which are read as well: their `limited_by` was what limits the culprit alone, of fewer
/// words.
inline constexpr std::string_view kRowSchemaBefore = "tfdata-doctor.row/1";

/// All columns, in the order in which each line has them.
std::span<const RowColumn> trace_row_columns();

/// "text", "integer", …
std::string_view to_word(RowType type);

/// The table of the columns in docs/batch.md, as Markdown: name, type, unit, meaning.
std::string row_columns_table();

}  // namespace doctor
