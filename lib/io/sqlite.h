#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace doctor {

// What every user of an SQLite database needs. A file that calls other functions of SQLite includes its header.

struct CloseDatabase {
  void operator()(sqlite3* database) const;
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const;
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// The first bytes of every SQLite database.
inline constexpr std::string_view kDatabaseMagic{"SQLite format 3\0", 16};

/// The program and version that a database belongs to, as its header says.
struct DatabaseIdentity {
  std::string_view name;  ///< for messages: "baseline"
  int application = 0;
  int version = 0;
};

enum class DatabaseMode {
  read,    ///< the file must exist
  change,  ///< the file is created if it does not exist
};

/// Opens a file. Several programs may work on it at once: one waits for the other, half a minute at most. Errors: no
/// file, no permission.
Result<Database> open_database(const std::string& path, const DatabaseIdentity& identity, DatabaseMode mode);

/// Removes the file of a new database if nothing could be stored in it, as on a full disk.
void remove_if_empty(const std::string& path);

/// Tests whether the database holds anything yet. Errors: it belongs to another program, or to another version.
Result<bool> has_tables(sqlite3* database, const DatabaseIdentity& identity, const std::string& path);

/// The statements that write the identity into the database.
std::string sql_to_identify(const DatabaseIdentity& identity);

/// Runs statements that return nothing. Errors: `fault`, followed by SQLite's message.
Result<void> execute(sqlite3* database, const std::string& sql, const std::string& fault, const std::string& where);

/// The error `what`, followed by SQLite's message about the last fault.
Unexpected database_failure(sqlite3* database, const std::string& what, const std::string& where);

/// Prepares a statement; null if it has a fault.
Statement prepare(sqlite3* database, std::string_view sql);

/// Binds a text, which is copied.
void bind_text(const Statement& statement, int parameter, std::string_view text);

/// The text of a column, valid until the next step. Empty for null.
std::string_view text_of(const Statement& statement, int column);

/// The first column of the first row; nullopt if there is none or the statement failed.
std::optional<std::int64_t> number_of(sqlite3* database, std::string_view sql);

}  // namespace doctor
