#include "compare/baseline_store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/try.h"
#include "compare/baseline.h"
#include "io/file_descriptor.h"
#include "io/file_io.h"
#include "io/replaced_file.h"
#include "io/sqlite.h"

namespace doctor {
namespace {

/// Of the databases that earlier versions made: the table `runs` with a row for each, its summary as JSON.
constexpr DatabaseIdentity kIdentity = {"baseline", 0x74666472, 1};  // "tfdr"

Result<std::vector<StoredRun>> runs_of_database(const std::string& path) {
  ASSIGN_OR_RETURN(const Database database, open_database(path, kIdentity, DatabaseMode::read));
  ASSIGN_OR_RETURN(const bool is_filled, has_tables(database.get(), kIdentity, path));
  std::vector<StoredRun> runs;
  if (!is_filled) return runs;
  const Statement rows = prepare(database.get(), "SELECT summary FROM runs ORDER BY number");
  int step = rows ? sqlite3_step(rows.get()) : SQLITE_ERROR;
  for (; step == SQLITE_ROW; step = sqlite3_step(rows.get())) {
    ASSIGN_OR_RETURN(StoredRun run, parse_stored_run(text_of(rows, 0), path));
    runs.push_back(std::move(run));
  }
  if (step != SQLITE_DONE) return database_failure(database.get(), "the baseline cannot be read", path);
  return runs;
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

enum class Kind { json, database, other };

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

/// Reads, changes and replaces a baseline while nobody else does. `change` says whether to keep its work.
Result<void> change_json(const std::string& path, const BaselineAccess& access,
                         const std::function<bool(std::vector<StoredRun>&)>& change) {
  const bool is_new = ::access(path.c_str(), F_OK) != 0;
  ASSIGN_OR_RETURN(const FileDescriptor file, lock_by_name(path, access.open));
  const Result<std::string> bytes = read_all(file.number(), path);
  if (!bytes) return Unexpected(bytes.error());
  if (!bytes->empty() && !sniff_baseline_json(*bytes)) RETURN_IF_ERROR(check_to_change(path));
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
  if (*kind == Kind::database) return runs_of_database(path);
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return Unexpected(path_error(path, errno));
  ASSIGN_OR_RETURN(const std::string bytes, read_all(file.number(), path));
  return parse_baseline_json(bytes, path);
}

Result<void> check_to_change(const std::string& path) {
  ASSIGN_OR_RETURN(const std::optional<Kind> kind, kind_of_file(path));
  if (kind == Kind::other) return no_baseline(path);
  if (kind != Kind::database) return {};
  RETURN_IF_ERROR(runs_of_database(path));
  return fail("is a baseline in SQLite, which is read but no longer changed", path,
              "write it anew and go on with that: 'tfdata-doctor baseline show FILE --format json -o NEW.json'");
}

Result<std::size_t> add_to_baseline(const std::string& path, const std::vector<StoredRun>& runs,
                                    const BaselineAccess& access, const KeptRuns& kept) {
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

Result<std::size_t> prune_baseline(const std::string& path, const KeptRuns& kept, const BaselineAccess& access) {
  if (::access(path.c_str(), F_OK) != 0) return Unexpected(path_error(path, errno));
  std::size_t removed = 0;
  RETURN_IF_ERROR(change_json(path, access, [&](std::vector<StoredRun>& stored) {
    removed = remove_all_but(kept, stored);
    return removed > 0;
  }));
  return removed;
}

}  // namespace doctor
