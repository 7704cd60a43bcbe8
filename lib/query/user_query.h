#pragma once

#include <limits>
#include <set>
#include <span>

#include "base/result.h"
#include "convert/output_buffer.h"
#include "io/sqlite.h"
#include "query/query_database.h"
#include "text/table.h"

namespace doctor {

/// The data that a statement reads.
struct QueryNeeds {
  std::set<std::string, std::less<>> tables;  ///< names from query_tables(), and those of the tables below `events`
  bool arguments = false;                     ///< the column `args` of `events`
  bool event_columns = false;                 ///< any column of `events`: else its rows are only counted
  bool event_names = false;                   ///< for packed events: columns that depend on their names, or their ids
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
  /// Prepares a statement. Errors: what is wrong where in the SQL, with the nearest name; more than one statement, a
  /// statement that changes something, a parameter.
  static Result<UserQuery> prepare(const QueryDatabase& database, std::string sql);

  const QueryNeeds& needs() const { return needs_; }

  /// Tests whether it reads the table `events` once, without its arguments, and nothing else.
  bool reads_only_events() const;
  /// The names of the columns in SQL; two may be equal.
  std::vector<std::string> columns() const;

  /// Calls `why` from time to time while the statement runs; if it returns an error, the statement ends with it.
  void end_when(std::function<std::optional<Error>()> why);

  /// Moves to the next row; false at the end. Errors: of the running statement.
  Result<bool> next();
  /// A value of the current row.
  QueryValue value(std::size_t column) const;

 private:
  UserQuery(sqlite3* database, QueryNeeds needs, Statement statement)
      : database_(database), needs_(std::move(needs)), statement_(std::move(statement)) {}

  /// The state of SQLite's callbacks while the statement runs. It has a place of its own, because the query may be
  /// moved.
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

/// Questions that people have, each a comment, with the SQL that answers it: examples.sql, which the build embeds.
extern const std::string_view kQueryExamples;

/// Runs the query and writes each row as it comes: memory does not grow with their number. Text columns are as wide as
/// the first thousand rows need. Foreign text is escaped. Rows beyond `most_rows` are left out silently. Errors: of the
/// running query; OutputBuffer::finish() returns those of the output.
Result<void> print_rows(UserQuery& query, TableFormat format, PageWidth width, OutputBuffer& output,
                        std::size_t most_rows = std::numeric_limits<std::size_t>::max());

}  // namespace doctor
