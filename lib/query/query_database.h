#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
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

}  // namespace doctor
