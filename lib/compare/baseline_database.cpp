#include "compare/baseline_database.h"

#include <sqlite3.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/try.h"

namespace doctor {
namespace {

constexpr DatabaseIdentity kIdentity = {"baseline", 0x74666472, 1};  // "tfdr"

}  // namespace

Unexpected BaselineDatabase::failure(const std::string& what) const {
  return database_failure(database_.get(), what, path_);
}

Result<void> BaselineDatabase::change(const std::string& sql) {
  return execute(database_.get(), sql, "the baseline cannot be changed", path_);
}

Result<BaselineDatabase> BaselineDatabase::open(const std::string& path, DatabaseMode mode) {
  std::error_code ignored;
  const bool is_new = !std::filesystem::exists(path, ignored);
  ASSIGN_OR_RETURN(Database database, open_database(path, kIdentity, mode));
  BaselineDatabase baseline(path, std::move(database));
  ASSIGN_OR_RETURN(const bool is_filled, has_tables(baseline.database_.get(), kIdentity, path));
  baseline.has_tables_ = is_filled || mode == DatabaseMode::change;
  if (is_filled || mode == DatabaseMode::read) return baseline;
  if (Result<void> prepared = baseline.prepare_tables(); !prepared) {
    if (is_new) remove_if_empty(path);
    return Unexpected(prepared.error());
  }
  return baseline;
}

Result<void> BaselineDatabase::prepare_tables() {
  return change("BEGIN IMMEDIATE;" + sql_to_identify(kIdentity) +
                "CREATE TABLE IF NOT EXISTS runs (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
                " label TEXT NOT NULL, source TEXT NOT NULL, summary TEXT NOT NULL);"
                "COMMIT;");
}

Result<std::vector<StoredRun>> BaselineDatabase::runs() {
  if (!has_tables_) return std::vector<StoredRun>{};
  const Statement rows = prepare(database_.get(), "SELECT summary FROM runs ORDER BY number");
  if (!rows) return failure("the baseline cannot be read");
  std::vector<StoredRun> runs;
  int step = sqlite3_step(rows.get());
  for (; step == SQLITE_ROW; step = sqlite3_step(rows.get())) {
    ASSIGN_OR_RETURN(StoredRun run, parse_stored_run(text_of(rows, 0), path_));
    runs.push_back(std::move(run));
  }
  if (step != SQLITE_DONE) return failure("the baseline cannot be read");
  return runs;
}

Result<std::size_t> BaselineDatabase::add(const std::vector<StoredRun>& runs) {
  RETURN_IF_ERROR(change("BEGIN IMMEDIATE"));
  std::size_t added = 0;
  for (const StoredRun& run : runs) {
    const Statement insert = prepare(database_.get(),
                                     "INSERT INTO runs (id, label, source, summary) VALUES (?, ?, ?, ?)"
                                     " ON CONFLICT (id) DO NOTHING");
    if (!insert) return failure("the baseline cannot be changed");
    bind_text(insert, 1, run.id);
    bind_text(insert, 2, run.label);
    bind_text(insert, 3, run.summary.source);
    bind_text(insert, 4, to_json(run));
    if (sqlite3_step(insert.get()) != SQLITE_DONE) return failure("the baseline cannot be changed");
    added += static_cast<std::size_t>(sqlite3_changes(database_.get()));
  }
  RETURN_IF_ERROR(change("COMMIT"));
  return added;
}

Result<std::size_t> BaselineDatabase::prune(std::size_t keep) {
  const Statement remove = prepare(
      database_.get(), "DELETE FROM runs WHERE number NOT IN (SELECT number FROM runs ORDER BY number DESC LIMIT ?)");
  if (!remove) return failure("the baseline cannot be changed");
  sqlite3_bind_int64(remove.get(), 1, static_cast<sqlite3_int64>(keep));
  if (sqlite3_step(remove.get()) != SQLITE_DONE) return failure("the baseline cannot be changed");
  return static_cast<std::size_t>(sqlite3_changes(database_.get()));
}

}  // namespace doctor
