#include "query/query_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/try.h"
#include "query/tables.h"

namespace doctor {
namespace {

constexpr DatabaseIdentity kIdentity = {"query database", 0x74666471, 3};  // "tfdq"

/// Of a database in a file: what many changed pages take before they go to the file.
constexpr std::uint64_t kFileCacheBytes = std::uint64_t{64} << 20;

std::string cache_pragma(std::uint64_t bytes) {
  return fmt::format("PRAGMA cache_size = -{};", bytes >> 10);
}

}  // namespace

Result<QueryDatabase> QueryDatabase::open(const std::string& path, DatabaseMode mode) {
  std::error_code ignored;
  const bool is_new = !std::filesystem::exists(path, ignored);
  ASSIGN_OR_RETURN(Database opened, open_database(path, kIdentity, mode));
  QueryDatabase database(path, std::move(opened));
  ASSIGN_OR_RETURN(const bool is_filled, has_tables(database.handle(), kIdentity, path));
  if (!is_filled && mode == DatabaseMode::read) return fail("holds no traces yet", path, "name traces to load");
  // A program that is killed leaves nothing half done; only a machine that loses power in that moment may.
  RETURN_IF_ERROR(database.change("PRAGMA synchronous = NORMAL;" + cache_pragma(kFileCacheBytes)));
  if (!is_filled) {
    if (Result<void> made = database.make_tables(); !made) {
      if (is_new) remove_if_empty(path);
      return Unexpected(made.error());
    }
  }
  RETURN_IF_ERROR(database.change(std::string(sql_to_show_timelines())));
  return database;
}

Result<QueryDatabase> QueryDatabase::temporary(std::uint64_t cache_bytes) {
  return temporary(cache_bytes, nullptr);
}

Result<QueryDatabase> QueryDatabase::with_packed_events(std::size_t most_events) {
  return temporary(kCacheBytes, std::make_unique<EventStore>(most_events));
}

Result<QueryDatabase> QueryDatabase::temporary(std::uint64_t cache_bytes, std::unique_ptr<EventStore> events) {
  // Nobody asks how much memory it has, and counting takes a lock for each piece. Refused once a database was opened.
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite3* raw = nullptr;
  // Without a name: its pages go to an unlinked file once the cache is full. Nobody else can open it.
  const int opened =
      sqlite3_open_v2("", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  QueryDatabase database({}, Database(raw));
  database.events_ = std::move(events);
  if (opened != SQLITE_OK) return fail("no database can be made in memory", {});
  const std::string settings =
      "PRAGMA page_size = 16384; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;" + cache_pragma(cache_bytes);
  RETURN_IF_ERROR(database.change(settings));
  if (database.events_ != nullptr && !add_events_table(raw, *database.events_)) return database.failure();
  RETURN_IF_ERROR(database.make_tables());
  RETURN_IF_ERROR(database.change(std::string(sql_to_show_timelines())));
  return database;
}

Result<void> QueryDatabase::make_tables() {
  RETURN_IF_ERROR(change("BEGIN IMMEDIATE"));
  // Another program may have made them while this one waited.
  ASSIGN_OR_RETURN(const bool is_filled, has_tables(handle(), kIdentity, path_));
  if (is_filled) return commit();
  if (Result<void> made = change(sql_to_identify(kIdentity) + sql_to_make_tables(events_ == nullptr)); !made) {
    roll_back();
    return made;
  }
  return commit();
}

Unexpected QueryDatabase::failure() const {
  return database_failure(handle(), "the query database cannot be changed", path_);
}

Result<void> QueryDatabase::change(const std::string& sql) {
  return execute(handle(), sql, "the query database cannot be changed", path_);
}

Result<void> QueryDatabase::begin() {
  RETURN_IF_ERROR(change("BEGIN IMMEDIATE"));
  // Others may have added some. Where nobody asks for files, the table has none.
  last_trace_ = std::max(last_trace_, next_number("files", "trace") - 1);
  return {};
}

Result<void> QueryDatabase::commit() {
  return change("COMMIT");
}

void QueryDatabase::roll_back() {
  // SQLite has done so itself where the disk is full.
  if (sqlite3_get_autocommit(handle()) == 0) sqlite3_exec(handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

bool QueryDatabase::has_content(std::string_view content) const {
  const Statement known = prepare(handle(), "SELECT 1 FROM loaded WHERE content = ?");
  if (!known) return false;
  bind_text(known, 1, content);
  return sqlite3_step(known.get()) == SQLITE_ROW;
}

Result<void> QueryDatabase::add_content(std::string_view content) {
  const Statement insert = prepare(handle(), "INSERT INTO loaded VALUES (?)");
  if (!insert) return failure();
  bind_text(insert, 1, content);
  if (sqlite3_step(insert.get()) != SQLITE_DONE) return failure();
  return {};
}

std::int64_t QueryDatabase::next_number(std::string_view table, std::string_view column) const {
  return number_of(handle(), fmt::format("SELECT coalesce(max({}), 0) + 1 FROM {}", column, table)).value_or(1);
}

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
