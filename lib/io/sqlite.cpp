#include "io/sqlite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

#include "io/file_descriptor.h"

namespace doctor {
namespace {

constexpr int kPatienceMilliseconds = 30'000;

/// SQLite removes a journal to commit, which takes the right to remove files from its folder. An empty one says the
/// same (https://www.sqlite.org/pragma.html#pragma_journal_mode, TRUNCATE) and takes the right to that file alone,
/// which is all that a process in the sandbox has.
int empty_in_place_of_removing(sqlite3_vfs* /*files*/, const char* name, int is_synced) {
  const FileDescriptor file(::open(name, O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!file.is_open()) return errno == ENOENT ? SQLITE_IOERR_DELETE_NOENT : SQLITE_IOERR_DELETE;
  return is_synced == 0 || ::fsync(file.number()) == 0 ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

/// The name by which SQLite knows the machine's files, with that.
const char* files_that_stay() {
  static sqlite3_vfs files;
  static const int registered = [] {
    sqlite3_initialize();
    files = *sqlite3_vfs_find(nullptr);
    files.zName = "tfdata-doctor";
    files.pNext = nullptr;
    files.xDelete = empty_in_place_of_removing;
    return sqlite3_vfs_register(&files, 0);
  }();
  return registered == SQLITE_OK ? files.zName : nullptr;
}

}  // namespace

void CloseDatabase::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

void FinalizeStatement::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Unexpected database_failure(sqlite3* database, const std::string& what, const std::string& where) {
  // SQLite asks malloc(), so it comes here where ours would have ended the program already.
  if (sqlite3_errcode(database) == SQLITE_NOMEM) throw std::bad_alloc();
  return fail(fmt::format("{}: {}", what, sqlite3_errmsg(database)), where);
}

Result<Database> open_database(const std::string& path, const DatabaseIdentity& identity, DatabaseMode mode) {
  // To read what a killed program left half written, SQLite must undo it first, and so write. Where it may not write it
  // opens for reading by itself.
  const int flags = SQLITE_OPEN_READWRITE | (mode == DatabaseMode::change ? SQLITE_OPEN_CREATE : 0);
  sqlite3* raw = nullptr;
  // A path is not a URI, and "" or ":memory:" would not be a file.
  const std::string file = path.starts_with('/') ? path : "./" + path;
  const int opened = sqlite3_open_v2(file.c_str(), &raw, flags, files_that_stay());
  Database database(raw);
  if (opened != SQLITE_OK) {
    return database_failure(raw, fmt::format("the {} cannot be opened", identity.name), path);
  }
  sqlite3_busy_timeout(raw, kPatienceMilliseconds);
  return database;
}

void remove_if_empty(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::file_size(path, ignored) == 0) std::filesystem::remove(path, ignored);
}

Result<bool> has_tables(sqlite3* database, const DatabaseIdentity& identity, const std::string& path) {
  const auto unreadable = [&]() -> Unexpected {
    const std::string what = fmt::format("the {} cannot be read", identity.name);
    // Of a sound file this takes kilobytes, of a damaged one SQLite may want more than there is.
    if (sqlite3_errcode(database) == SQLITE_NOMEM) return fail(what + ": it is damaged, or no memory is left", path);
    return database_failure(database, what, path);
  };
  // The tables first: another program that makes them right now sets the application in the same change.
  const std::optional<std::int64_t> tables = number_of(database, "SELECT count(*) FROM sqlite_schema");
  if (!tables) return unreadable();
  const std::optional<std::int64_t> application = number_of(database, "PRAGMA application_id");
  if (!application) return unreadable();
  if (*tables == 0 && (*application == 0 || *application == identity.application)) return false;
  if (*application != identity.application) {
    return fail(fmt::format("is a database of another program, no {}", identity.name), path);
  }
  const std::int64_t version = number_of(database, "PRAGMA user_version").value_or(0);
  if (version == identity.version) return true;
  return fail(
      fmt::format("is a {} of version {}; this tool reads version {}", identity.name, version, identity.version), path,
      "use the version of tfdata-doctor that wrote it");
}

std::string sql_to_identify(const DatabaseIdentity& identity) {
  return fmt::format("PRAGMA application_id = {};PRAGMA user_version = {};", identity.application, identity.version);
}

Result<void> execute(sqlite3* database, const std::string& sql, const std::string& fault, const std::string& where) {
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return database_failure(database, fault, where);
}

Statement prepare(sqlite3* database, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  return Statement(statement);
}

void bind_text(const Statement& statement, int parameter, std::string_view text) {
  // A null pointer would bind null.
  sqlite3_bind_text64(statement.get(), parameter, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
}

std::string_view text_of(const Statement& statement, int column) {
  const unsigned char* const text = sqlite3_column_text(statement.get(), column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(statement.get(), column))};
}

std::optional<std::int64_t> number_of(sqlite3* database, std::string_view sql) {
  const Statement statement = prepare(database, sql);
  if (!statement || sqlite3_step(statement.get()) != SQLITE_ROW) return std::nullopt;
  return sqlite3_column_int64(statement.get(), 0);
}

}  // namespace doctor
