#include "compare/baseline_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <optional>
#include <string_view>
#include <utility>

namespace doctor {
namespace {

constexpr int kVersion = 1;
constexpr int kApplication = 0x74666472;  // "tfdr", in the header of the file
constexpr int kPatienceMilliseconds = 30'000;

sqlite3* database(void* handle) {
  return static_cast<sqlite3*>(handle);
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

Statement prepare(sqlite3* handle, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  return Statement(statement);
}

void bind_text(const Statement& statement, int parameter, std::string_view text) {
  sqlite3_bind_text64(statement.get(), parameter, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

std::string_view text_of(const Statement& statement, int column) {
  const unsigned char* const text = sqlite3_column_text(statement.get(), column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(sqlite3_column_bytes(statement.get(), column))};
}

std::optional<std::int64_t> number_of(sqlite3* handle, std::string_view sql) {
  const Statement statement = prepare(handle, sql);
  if (!statement || sqlite3_step(statement.get()) != SQLITE_ROW) return std::nullopt;
  return sqlite3_column_int64(statement.get(), 0);
}

}  // namespace

void BaselineDatabase::Close::operator()(void* handle) const {
  sqlite3_close_v2(database(handle));
}

Unexpected BaselineDatabase::failure(const std::string& what) const {
  return fail(fmt::format("{}: {}", what, sqlite3_errmsg(database(handle_.get()))), path_);
}

Result<void> BaselineDatabase::execute(const char* sql) {
  if (sqlite3_exec(database(handle_.get()), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return failure("the baseline cannot be changed");
}

Result<BaselineDatabase> BaselineDatabase::open(const std::string& path, Mode mode) {
  // To read what a killed program left half written, SQLite must undo it first, and so write. Where it may not write it
  // opens for reading by itself.
  const int flags = SQLITE_OPEN_READWRITE | (mode == Mode::change ? SQLITE_OPEN_CREATE : 0);
  sqlite3* raw = nullptr;
  // A path is no URI, and "" or ":memory:" would be no file.
  const std::string file = path.starts_with('/') ? path : "./" + path;
  const int opened = sqlite3_open_v2(file.c_str(), &raw, flags, nullptr);
  BaselineDatabase baseline(path, Handle(raw));
  if (opened != SQLITE_OK) return baseline.failure("the baseline cannot be opened");
  sqlite3_busy_timeout(raw, kPatienceMilliseconds);
  // The tables first: another program that makes them right now sets the application in the same change.
  const std::optional<std::int64_t> tables = number_of(raw, "SELECT count(*) FROM sqlite_schema");
  if (!tables) return baseline.failure("the baseline cannot be read");
  const std::optional<std::int64_t> application = number_of(raw, "PRAGMA application_id");
  if (!application) return baseline.failure("the baseline cannot be read");
  if (*tables == 0 && (*application == 0 || *application == kApplication)) {
    baseline.has_tables_ = mode == Mode::change;
    if (mode == Mode::read) return baseline;
    if (Result<void> prepared = baseline.prepare_tables(); !prepared) return Unexpected(prepared.error());
    return baseline;
  }
  if (*application != kApplication) return fail("is a database of another program, no baseline", path);
  const std::int64_t version = number_of(raw, "PRAGMA user_version").value_or(0);
  if (version == kVersion) return baseline;
  return fail(fmt::format("is a baseline of version {}; this tool reads version {}", version, kVersion), path,
              "use the version of tfdata-doctor that wrote it");
}

Result<void> BaselineDatabase::prepare_tables() {
  const std::string sql = fmt::format(
      "BEGIN IMMEDIATE;"
      "PRAGMA application_id = {};"
      "PRAGMA user_version = {};"
      "CREATE TABLE IF NOT EXISTS runs (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
      " label TEXT NOT NULL, source TEXT NOT NULL, summary TEXT NOT NULL);"
      "COMMIT;",
      kApplication, kVersion);
  return execute(sql.c_str());
}

Result<std::vector<StoredRun>> BaselineDatabase::runs() {
  if (!has_tables_) return std::vector<StoredRun>{};
  const Statement rows = prepare(database(handle_.get()), "SELECT summary FROM runs ORDER BY number");
  if (!rows) return failure("the baseline cannot be read");
  std::vector<StoredRun> runs;
  int step = sqlite3_step(rows.get());
  for (; step == SQLITE_ROW; step = sqlite3_step(rows.get())) {
    Result<StoredRun> run = parse_stored_run(text_of(rows, 0), path_);
    if (!run) return Unexpected(std::move(run.error()));
    runs.push_back(std::move(*run));
  }
  if (step != SQLITE_DONE) return failure("the baseline cannot be read");
  return runs;
}

Result<std::size_t> BaselineDatabase::add(const std::vector<StoredRun>& runs) {
  if (Result<void> begun = execute("BEGIN IMMEDIATE"); !begun) return Unexpected(begun.error());
  std::size_t added = 0;
  for (const StoredRun& run : runs) {
    const Statement insert = prepare(database(handle_.get()),
                                     "INSERT INTO runs (id, label, source, summary) VALUES (?, ?, ?, ?)"
                                     " ON CONFLICT (id) DO NOTHING");
    if (!insert) return failure("the baseline cannot be changed");
    bind_text(insert, 1, run.id);
    bind_text(insert, 2, run.label);
    bind_text(insert, 3, run.summary.source);
    bind_text(insert, 4, to_json(run));
    if (sqlite3_step(insert.get()) != SQLITE_DONE) return failure("the baseline cannot be changed");
    added += static_cast<std::size_t>(sqlite3_changes(database(handle_.get())));
  }
  if (Result<void> committed = execute("COMMIT"); !committed) return Unexpected(committed.error());
  return added;
}

Result<std::size_t> BaselineDatabase::prune(std::size_t keep) {
  const Statement remove =
      prepare(database(handle_.get()),
              "DELETE FROM runs WHERE number NOT IN (SELECT number FROM runs ORDER BY number DESC LIMIT ?)");
  if (!remove) return failure("the baseline cannot be changed");
  sqlite3_bind_int64(remove.get(), 1, static_cast<sqlite3_int64>(keep));
  if (sqlite3_step(remove.get()) != SQLITE_DONE) return failure("the baseline cannot be changed");
  return static_cast<std::size_t>(sqlite3_changes(database(handle_.get())));
}

}  // namespace doctor
