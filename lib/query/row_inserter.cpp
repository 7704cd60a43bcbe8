#include "query/row_inserter.h"

#include <sqlite3.h>

#include <string>

#include "query/tables.h"

namespace doctor {

RowInserter::RowInserter(QueryDatabase& database, std::string_view table, std::size_t column_count)
    : database_(database) {
  std::string sql = "INSERT INTO " + std::string(table) + " VALUES (?";
  for (std::size_t column = 1; column < column_count; ++column) sql += ", ?";
  insert_ = prepare(database.handle(), sql + ")");
  if (!insert_) fault_ = database_.failure().value();
}

RowInserter::RowInserter(QueryDatabase& database, std::string_view table)
    : RowInserter(database, stored_as(*find_query_table(table)), find_query_table(table)->columns.size()) {}

RowInserter& RowInserter::integer(std::int64_t value) {
  sqlite3_bind_int64(insert_.get(), ++position_, value);
  return *this;
}

RowInserter& RowInserter::real(double value) {
  sqlite3_bind_double(insert_.get(), ++position_, value);
  return *this;
}

RowInserter& RowInserter::text(std::string_view value) {
  bind_text(insert_, ++position_, value);
  return *this;
}

RowInserter& RowInserter::null() {
  sqlite3_bind_null(insert_.get(), ++position_);
  return *this;
}

void RowInserter::end_row() {
  position_ = 0;
  if (fault_) return;
  if (sqlite3_step(insert_.get()) != SQLITE_DONE) fault_ = database_.failure().value();
  sqlite3_reset(insert_.get());
}

Result<void> RowInserter::finish() const {
  return fault_ ? Result<void>(Unexpected(*fault_)) : Result<void>();
}

}  // namespace doctor
