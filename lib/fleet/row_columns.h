#pragma once

#include "report/selection.h"

namespace doctor {

struct RowFile;
struct RowFinding;
struct RowOp;
struct TraceRow;

enum class RowType : std::uint8_t {
  text,
  integer,  ///< never negative, below 2^63
  real,
  boolean,
  timestamp,  ///< text as in RFC 3339, in UTC with microseconds: "2026-11-22T08:28:02.000000Z"
  records,    ///< a list of objects, never null
};

/// A number about the worst pipeline that only its column needs. It has no member, but an entry in TraceRow::figures.
using RowFigure = std::optional<double> (*)(const PipelineView& worst);

/// The member of a row, its file or a record in it that has the value of a column; none if the value is the same in
/// every line. The type of the column follows from it: an std::int64_t is the nanoseconds of a timestamp.
using RowMember =
    std::variant<std::monostate, RowFigure, std::string RowFile::*, std::uint64_t RowFile::*, std::string TraceRow::*,
                 std::uint64_t TraceRow::*, std::int64_t TraceRow::*, double TraceRow::*, bool TraceRow::*,
                 std::optional<double> TraceRow::*, std::vector<RowOp> TraceRow::*, std::vector<RowFinding> TraceRow::*,
                 std::string RowOp::*, double RowOp::*, std::string RowFinding::*>;

enum class Presence : std::uint8_t {
  always,
  or_null,  ///< null for an empty text, no number, no time
  later,    ///< the same, and rows of earlier versions do not have the column
};

/// A column of the lines that `batch` writes. The code that writes, reads, describes and loads lines follows from it.
struct RowColumn {
  std::string_view name;
  RowMember member;
  Presence presence = Presence::always;
  std::string_view unit;                     ///< "us", "bytes", "0..1"; empty for a plain value
  std::string meaning;                       ///< Markdown; "{}" of the table has become the list of the words
  std::vector<std::string_view> words = {};  ///< all possible texts; empty if any text is possible
  std::vector<RowColumn> fields = {};        ///< of the records

  RowType type() const;
  bool is_nullable() const { return presence != Presence::always; }
};

/// The first column of each line.
inline constexpr std::string_view kRowSchema = "tfdata-doctor.row/2";
/// The schema of the previous version, whose rows are read as well. Their `limited_by` was the limit of the culprit
/// alone, with fewer words.
inline constexpr std::string_view kRowSchemaBefore = "tfdata-doctor.row/1";

/// All columns, in the order of each line.
std::span<const RowColumn> trace_row_columns();

/// The index of one of these columns.
inline std::size_t place_of(const RowColumn& column) {
  return static_cast<std::size_t>(&column - trace_row_columns().data());
}

/// Calls `visit(value)` with the value that a TraceRow, or a record in it, has for a column with a member.
template <typename Record, typename Visit>
void visit_value(const RowColumn& column, Record& record, Visit visit) {
  // Members that only a row has are accessed outside of the lambda: clang instantiates the lambda for records, too.
  if constexpr (std::is_same_v<std::remove_const_t<Record>, TraceRow>) {
    std::visit(
        [&](const auto member) {
          if constexpr (std::is_invocable_v<decltype(member), Record&>) {
            visit(record.*member);
          } else if constexpr (std::is_invocable_v<decltype(member), RowFile&>) {
            visit(record.file.*member);
          } else if constexpr (std::is_same_v<decltype(member), const RowFigure>) {
            visit(record.figures[place_of(column)]);
          }
        },
        column.member);
  } else {
    std::visit(
        [&](const auto member) {
          if constexpr (std::is_invocable_v<decltype(member), Record&>) visit(record.*member);
        },
        column.member);
  }
}

}  // namespace doctor
