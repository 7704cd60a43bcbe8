#pragma once

#include "base/result.h"
#include "base/time.h"
#include "io/sqlite.h"
#include "query/event_store.h"

namespace doctor {

/// The SQLite database that traces are loaded into and SQL is run on: a file that the user names, which any SQLite
/// program can use, or a temporary one that ends with the object.
class QueryDatabase {
 public:
  /// The largest amount that the database keeps in memory; the rest goes to a temporary file.
  static constexpr std::uint64_t kCacheBytes = std::uint64_t{32} << 20;

  /// Opens the database of a file. Errors: not a database, one of another program or of another version of the tables.
  static Result<QueryDatabase> open(const std::string& path, DatabaseMode mode);

  /// A temporary database, in memory as far as it fits into `cache_bytes`. Errors: no memory.
  static Result<QueryDatabase> temporary(std::uint64_t cache_bytes = kCacheBytes);

  /// A temporary database with up to `most_events` events in events() in place of their tables, for a statement that
  /// reads the table `events` once, without its arguments, and nothing else.
  static Result<QueryDatabase> with_packed_events(std::size_t most_events);

  sqlite3* handle() const { return database_.get(); }
  bool is_temporary() const { return path_.empty(); }

  /// Null if events are rows of tables.
  EventStore* events() const { return events_.get(); }

  /// Begins a transaction: commit() keeps everything from here on, or nothing of it is stored. Another program that
  /// adds at the same time waits.
  Result<void> begin();
  Result<void> commit();
  void roll_back();

  /// Runs statements of our own. Errors: the database cannot be changed.
  Result<void> change(const std::string& sql);
  Unexpected failure() const;

  /// Tests whether the content that this text identifies, e.g. the SHA-256 of a file, was added already.
  bool has_content(std::string_view content) const;
  Result<void> add_content(std::string_view content);

  /// A number that no trace has. Call it after begin().
  std::int64_t take_trace_number() { return ++last_trace_; }

  /// One more than the largest number in the column.
  std::int64_t next_number(std::string_view table, std::string_view column) const;

 private:
  QueryDatabase(std::string path, Database database) : path_(std::move(path)), database_(std::move(database)) {}
  Result<void> make_tables();

  static Result<QueryDatabase> temporary(std::uint64_t cache_bytes, std::unique_ptr<EventStore> events);

  std::string path_;                    ///< empty for a temporary one
  std::unique_ptr<EventStore> events_;  ///< outlives the database, which reads it
  Database database_;
  std::int64_t last_trace_ = 0;
};

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
