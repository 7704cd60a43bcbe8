#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "io/sqlite.h"
#include "query/query_database.h"

namespace doctor {

/// Adds rows to a table, value by value in the order of its columns. After a fault it goes on silently; finish()
/// reports it.
class RowInserter {
 public:
  /// `table` has `column_count` columns.
  RowInserter(QueryDatabase& database, std::string_view table, std::size_t column_count);
  /// `table` is one of query_tables().
  RowInserter(QueryDatabase& database, std::string_view table);

  RowInserter& integer(std::int64_t value);
  RowInserter& real(double value);
  RowInserter& time(Picoseconds value) { return real(to_microseconds(value)); }
  /// Bytes that are not UTF-8 are stored as they are, and replaced when they are printed.
  RowInserter& text(std::string_view value);
  RowInserter& null();
  RowInserter& boolean(bool value) { return integer(value ? 1 : 0); }

  RowInserter& optional_real(std::optional<double> value) { return value ? real(*value) : null(); }
  RowInserter& optional_integer(std::optional<std::int64_t> value) { return value ? integer(*value) : null(); }
  /// Adds a text, or null if it is empty.
  RowInserter& optional_text(std::string_view value) { return value.empty() ? null() : text(value); }

  /// Ends a row, which must have all its values.
  void end_row();

  /// Errors: a row could not be added.
  Result<void> finish() const;

 private:
  QueryDatabase& database_;
  Statement insert_;
  int position_ = 0;
  /// the first one; kept at once, because the database forgets it with its next statement
  std::optional<Error> fault_;
};

}  // namespace doctor
