#include "compare/baseline_store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/try.h"
#include "compare/baseline.h"
#include "io/file_descriptor.h"
#include "io/file_io.h"
#include "io/locked_file.h"
#include "io/path_error.h"
#include "io/replaced_file.h"
#include "io/sqlite.h"

namespace doctor {
namespace {

/// A baseline in an SQLite database: the table `runs` with a row for each, its summary as JSON. Readable by any program
/// that reads SQLite.
class BaselineDatabase {
 public:
  /// Errors: no database, one of another program or of a newer version, one that is locked for too long.
  static Result<BaselineDatabase> open(const std::string& path, DatabaseMode mode);

  Result<std::vector<StoredRun>> runs();
  /// How many were new.
  Result<std::size_t> add(const std::vector<StoredRun>& runs, const KeptRuns& kept);
  /// How many were taken out.
  Result<std::size_t> prune(const KeptRuns& kept);

 private:
  Result<std::size_t> remove_all_but(const KeptRuns& kept);
  BaselineDatabase(std::string path, Database database) : path_(std::move(path)), database_(std::move(database)) {}
  Result<void> prepare_tables();
  Unexpected failure(const std::string& what) const;
  Result<void> change(const std::string& sql);

  std::string path_;
  Database database_;
  bool has_tables_ = true;  ///< else whoever began to make it was killed before
};

constexpr DatabaseIdentity kIdentity = {"baseline", 0x74666472, 1};  // "tfdr"

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

Result<std::size_t> BaselineDatabase::add(const std::vector<StoredRun>& runs, const KeptRuns& kept) {
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
  if (kept) RETURN_IF_ERROR(remove_all_but(kept));
  RETURN_IF_ERROR(change("COMMIT"));
  return added;
}

Result<std::size_t> BaselineDatabase::prune(const KeptRuns& kept) {
  RETURN_IF_ERROR(change("BEGIN IMMEDIATE"));
  ASSIGN_OR_RETURN(const std::size_t removed, remove_all_but(kept));
  RETURN_IF_ERROR(change("COMMIT"));
  return removed;
}

Result<std::size_t> BaselineDatabase::remove_all_but(const KeptRuns& kept) {
  ASSIGN_OR_RETURN(const std::vector<StoredRun> stored, runs());
  const Statement remove = prepare(
      database_.get(), "DELETE FROM runs WHERE number NOT IN (SELECT number FROM runs ORDER BY number DESC LIMIT ?)");
  if (!remove) return failure("the baseline cannot be changed");
  sqlite3_bind_int64(remove.get(), 1, static_cast<sqlite3_int64>(kept(stored)));
  if (sqlite3_step(remove.get()) != SQLITE_DONE) return failure("the baseline cannot be changed");
  return static_cast<std::size_t>(sqlite3_changes(database_.get()));
}

Result<std::string> read_all(int file, const std::string& path) {
  std::string bytes;
  char block[64 * 1024];
  for (;;) {
    const ssize_t count = read_some(file, block, sizeof(block));
    if (count < 0) return Unexpected(path_error(path, errno));
    if (count == 0) return bytes;
    bytes.append(block, static_cast<std::size_t>(count));
  }
}

using Kind = BaselineKind;

/// What a file is, determined by its first bytes; nullopt where there is none, or nothing in it.
Result<std::optional<Kind>> kind_of_file(const std::string& path) {
  RETURN_IF_ERROR(check_that_it_ends(path));
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return std::optional<Kind>();
  if (!file.is_open()) return Unexpected(path_error(path, errno));
  char head[1024];
  const ssize_t count = read_some(file.number(), head, sizeof(head));
  if (count < 0) return Unexpected(path_error(path, errno));
  const std::string_view bytes(head, static_cast<std::size_t>(count));
  if (bytes.empty()) return std::optional<Kind>();
  if (bytes.starts_with(kDatabaseMagic)) return std::optional(Kind::database);
  return std::optional(sniff_baseline_json(bytes) ? Kind::json : Kind::other);
}

Unexpected no_baseline(const std::string& path) {
  return fail("is not a baseline", path, "'tfdata-doctor baseline add FILE TRACE...' makes one");
}

/// How many were taken out.
std::size_t remove_all_but(const KeptRuns& kept, std::vector<StoredRun>& runs) {
  const std::size_t keep = kept(runs);
  const std::size_t removed = runs.size() > keep ? runs.size() - keep : 0;
  runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(removed));
  return removed;
}

/// Reads, changes and replaces a JSON baseline while nobody else does. `change` says whether to keep its work.
Result<void> change_json(const std::string& path, const BaselineAccess& access,
                         const std::function<bool(std::vector<StoredRun>&)>& change) {
  const bool is_new = ::access(path.c_str(), F_OK) != 0;
  ASSIGN_OR_RETURN(const FileDescriptor file, lock_by_name(path, access.open));
  const Result<std::string> bytes = read_all(file.number(), path);
  if (!bytes) return Unexpected(bytes.error());
  ASSIGN_OR_RETURN(std::vector<StoredRun> runs, parse_baseline_json(*bytes, path));
  if (!change(runs) && !bytes->empty()) return {};
  Result<void> replaced = access.replace(path, to_baseline_json(runs));
  // Where the disk is full, an empty file would be all that is left. The lock is held: nobody has stored anything in
  // it.
  if (!replaced && is_new && bytes->empty()) ::unlink(followed(path).c_str());
  return replaced;
}

}  // namespace

bool sniff_baseline(std::string_view head) {
  return head.starts_with(kDatabaseMagic) || sniff_baseline_json(head);
}

Result<std::vector<StoredRun>> load_baseline(const std::string& path) {
  ASSIGN_OR_RETURN(const std::optional<Kind> kind, kind_of_file(path));
  if (!kind) {
    if (::access(path.c_str(), F_OK) != 0) {
      if (errno != ENOENT) return Unexpected(path_error(path, errno));
      return fail("there is no such baseline yet", path, "'tfdata-doctor baseline add FILE TRACE...' makes one");
    }
    return fail("is empty: it holds no baseline", path, "'tfdata-doctor baseline add FILE TRACE...' makes one");
  }
  if (*kind == Kind::other) return no_baseline(path);
  if (*kind == Kind::database) {
    ASSIGN_OR_RETURN(BaselineDatabase database, BaselineDatabase::open(path, DatabaseMode::read));
    return database.runs();
  }
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return Unexpected(path_error(path, errno));
  ASSIGN_OR_RETURN(const std::string bytes, read_all(file.number(), path));
  return parse_baseline_json(bytes, path);
}

BaselineAccess access_by_name() {
  return {.open = open_to_change, .replace = [](const std::string& path, std::string_view bytes) -> Result<void> {
            ReplacedFile file;
            int error = file.begin(path);
            if (error == 0 && !write_all(file.file().number(), bytes)) error = errno;
            if (error == 0) error = file.finish();
            if (error != 0) return Unexpected(path_error(path, error));
            return {};
          }};
}

Result<BaselineKind> kind_to_change(const std::string& path) {
  ASSIGN_OR_RETURN(const std::optional<Kind> kind, kind_of_file(path));
  if (kind == Kind::other) return no_baseline(path);
  return kind.value_or(path.ends_with(".json") ? Kind::json : Kind::database);
}

Result<std::size_t> add_to_baseline(const std::string& path, BaselineKind kind, const std::vector<StoredRun>& runs,
                                    const BaselineAccess& access, const KeptRuns& kept) {
  if (kind == Kind::database) {
    ASSIGN_OR_RETURN(BaselineDatabase database, BaselineDatabase::open(path, DatabaseMode::change));
    return database.add(runs, kept);
  }
  std::size_t added = 0;
  RETURN_IF_ERROR(change_json(path, access, [&](std::vector<StoredRun>& stored) {
    for (const StoredRun& run : runs) {
      const auto is_same = [&](const StoredRun& other) { return other.id == run.id; };
      if (std::any_of(stored.begin(), stored.end(), is_same)) continue;
      stored.push_back(run);
      ++added;
    }
    const std::size_t removed = kept ? remove_all_but(kept, stored) : 0;
    return added + removed > 0;
  }));
  return added;
}

Result<std::size_t> add_to_baseline(const std::string& path, const std::vector<StoredRun>& runs) {
  ASSIGN_OR_RETURN(const BaselineKind kind, kind_to_change(path));
  return add_to_baseline(path, kind, runs, access_by_name());
}

Result<std::size_t> prune_baseline(const std::string& path, BaselineKind kind, const KeptRuns& kept,
                                   const BaselineAccess& access) {
  if (kind == Kind::database) {
    ASSIGN_OR_RETURN(BaselineDatabase database, BaselineDatabase::open(path, DatabaseMode::change));
    return database.prune(kept);
  }
  std::size_t removed = 0;
  RETURN_IF_ERROR(change_json(path, access, [&](std::vector<StoredRun>& stored) {
    removed = remove_all_but(kept, stored);
    return removed > 0;
  }));
  return removed;
}

Result<std::size_t> prune_baseline(const std::string& path, std::size_t keep) {
  if (::access(path.c_str(), F_OK) != 0) return Unexpected(path_error(path, errno));
  ASSIGN_OR_RETURN(const BaselineKind kind, kind_to_change(path));
  return prune_baseline(
      path, kind, [keep](const std::vector<StoredRun>&) { return keep; }, access_by_name());
}

}  // namespace doctor
