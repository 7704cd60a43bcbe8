#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "io/sqlite.h"
#include "query/query_database.h"

namespace doctor {

/// What a statement reads.
struct QueryNeeds {
  std::set<std::string, std::less<>> tables;  ///< of query_tables(), and those below `events`
  bool arguments = false;                     ///< the column `args` of `events`
  bool event_names = false;                   ///< of packed events: columns that only their names, or their ids, decide
  bool event_tokens = false;                  ///< likewise: the columns `iterator_id` and `parent_id`

  bool has(std::string_view table) const { return tables.find(table) != tables.end(); }
};

enum class ValueType : std::uint8_t { null, integer, real, text, blob };

/// A value of a row. Its bytes live until the next row.
struct QueryValue {
  ValueType type = ValueType::null;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view bytes;  ///< of text and blob
};

/// One statement of the user, which reads and changes nothing.
class UserQuery {
 public:
  /// Errors: what is wrong where in the SQL, with the nearest name; more than one statement, one that changes
  /// something, a parameter.
  static Result<UserQuery> prepare(const QueryDatabase& database, std::string sql);

  const QueryNeeds& needs() const { return needs_; }

  /// Whether it reads the table `events` once, without its arguments, and nothing else.
  bool reads_only_events() const;
  /// As SQL names them; two may be alike.
  std::vector<std::string> columns() const;

  /// Calls `why` from time to time while the statement runs, which ends with the error that it returns.
  void end_when(std::function<std::optional<Error>()> why);

  /// The next row; false at the end. Errors: what went wrong while it ran.
  Result<bool> next();
  /// Of the present row.
  QueryValue value(std::size_t column) const;

 private:
  UserQuery(sqlite3* database, QueryNeeds needs, Statement statement)
      : database_(database), needs_(std::move(needs)), statement_(std::move(statement)) {}

  /// What SQLite calls while the statement runs; at a place of its own, for the query may move.
  struct Watcher {
    sqlite3* database;
    std::function<std::optional<Error>()> why;
    std::optional<Error> error;

    Watcher(sqlite3* of, std::function<std::optional<Error>()> asked) : database(of), why(std::move(asked)) {}
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;
    ~Watcher();
  };

  sqlite3* database_;
  QueryNeeds needs_;
  Statement statement_;
  std::unique_ptr<Watcher> watcher_;
};

}  // namespace doctor
