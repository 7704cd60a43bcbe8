#include "compare/baseline_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include "compare/baseline_database.h"
#include "io/file_descriptor.h"
#include "io/file_io.h"
#include "io/path_error.h"

namespace doctor {
namespace {

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

/// What a file is, determined by its first bytes; nullopt where there is none, or nothing in it.
enum class Kind { json, database, other };

Result<std::optional<Kind>> kind_of_file(const std::string& path) {
  if (const Result<void> ends = check_that_it_ends(path); !ends) return Unexpected(ends.error());
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

/// The file that a name leads to, which must be there, so that a link to a baseline stays one.
std::string target_of(const std::string& path) {
  char target[PATH_MAX];
  return ::realpath(path.c_str(), target) != nullptr ? target : path;
}

/// The file, locked against other programs that change it. It may be replaced while the lock is waited for: then the
/// one that has its name now is locked.
Result<FileDescriptor> lock(const std::string& path) {
  for (;;) {
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!file.is_open()) return Unexpected(path_error(path, errno));
    if (uninterrupted([&] { return ::flock(file.number(), LOCK_EX); }) != 0) return Unexpected(path_error(path, errno));
    struct stat locked {};
    struct stat named {};
    if (::fstat(file.number(), &locked) != 0) return Unexpected(path_error(path, errno));
    const bool is_named = ::stat(path.c_str(), &named) == 0;
    if (is_named && named.st_ino == locked.st_ino && named.st_dev == locked.st_dev) return file;
  }
}

Result<void> store_all(int file, std::string_view bytes, const std::string& path) {
  if (!write_all(file, bytes) || ::fsync(file) != 0) return Unexpected(path_error(path, errno));
  return {};
}

/// Puts new content in the place of a locked file, at once. The file beside it has one name, which only who holds the
/// lock uses: what a killed program left of it is overwritten.
Result<void> replace(const std::string& path, int locked, std::string_view bytes) {
  const std::string fresh = path + ".new";
  struct stat status {};
  if (::fstat(locked, &status) != 0) return Unexpected(path_error(path, errno));
  const FileDescriptor file(
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, status.st_mode & 0777));
  if (!file.is_open()) return Unexpected(path_error(fresh, errno));
  Result<void> written = store_all(file.number(), bytes, fresh);
  if (written && std::rename(fresh.c_str(), path.c_str()) != 0) written = Unexpected(path_error(path, errno));
  if (!written) ::unlink(fresh.c_str());
  return written;
}

/// Reads, changes and replaces a JSON baseline while nobody else does. `change` says whether to keep its work.
Result<void> change_json(const std::string& path, const std::function<bool(std::vector<StoredRun>&)>& change) {
  const bool is_new = ::access(path.c_str(), F_OK) != 0;
  const Result<FileDescriptor> file = lock(path);
  if (!file) return Unexpected(file.error());
  const Result<std::string> bytes = read_all(file->number(), path);
  if (!bytes) return Unexpected(bytes.error());
  Result<std::vector<StoredRun>> runs = parse_baseline_json(*bytes, path);
  if (!runs) return Unexpected(std::move(runs.error()));
  if (!change(*runs) && !bytes->empty()) return {};
  const std::string target = target_of(path);
  Result<void> replaced = replace(target, file->number(), to_baseline_json(*runs));
  // Where the disk is full, an empty file would be all that is left. The lock is held: nobody has stored anything in
  // it.
  if (!replaced && is_new && bytes->empty()) ::unlink(target.c_str());
  return replaced;
}

}  // namespace

bool sniff_baseline(std::string_view head) {
  return head.starts_with(kDatabaseMagic) || sniff_baseline_json(head);
}

Result<std::vector<StoredRun>> load_baseline(const std::string& path) {
  const Result<std::optional<Kind>> kind = kind_of_file(path);
  if (!kind) return Unexpected(kind.error());
  if (!*kind) {
    if (::access(path.c_str(), F_OK) != 0) {
      if (errno != ENOENT) return Unexpected(path_error(path, errno));
      return fail("there is no such baseline yet", path, "'tfdata-doctor baseline add FILE TRACE...' makes one");
    }
    return std::vector<StoredRun>{};
  }
  if (**kind == Kind::other) return no_baseline(path);
  if (**kind == Kind::database) {
    Result<BaselineDatabase> database = BaselineDatabase::open(path, DatabaseMode::read);
    if (!database) return Unexpected(std::move(database.error()));
    return database->runs();
  }
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return Unexpected(path_error(path, errno));
  const Result<std::string> bytes = read_all(file.number(), path);
  if (!bytes) return Unexpected(bytes.error());
  return parse_baseline_json(*bytes, path);
}

Result<std::size_t> add_to_baseline(const std::string& path, const std::vector<StoredRun>& runs) {
  const Result<std::optional<Kind>> kind = kind_of_file(path);
  if (!kind) return Unexpected(kind.error());
  if (*kind == Kind::other) return no_baseline(path);
  const Kind chosen = kind->value_or(path.ends_with(".json") ? Kind::json : Kind::database);
  if (chosen == Kind::database) {
    Result<BaselineDatabase> database = BaselineDatabase::open(path, DatabaseMode::change);
    if (!database) return Unexpected(std::move(database.error()));
    return database->add(runs);
  }
  std::size_t added = 0;
  const Result<void> changed = change_json(path, [&](std::vector<StoredRun>& stored) {
    for (const StoredRun& run : runs) {
      const auto is_same = [&](const StoredRun& other) { return other.id == run.id; };
      if (std::any_of(stored.begin(), stored.end(), is_same)) continue;
      stored.push_back(run);
      ++added;
    }
    return added > 0;
  });
  if (!changed) return Unexpected(changed.error());
  return added;
}

Result<std::size_t> prune_baseline(const std::string& path, std::size_t keep) {
  const Result<std::optional<Kind>> kind = kind_of_file(path);
  if (!kind) return Unexpected(kind.error());
  if (!*kind && ::access(path.c_str(), F_OK) != 0) return Unexpected(path_error(path, errno));
  if (*kind == Kind::other) return no_baseline(path);
  if (*kind == Kind::database) {
    Result<BaselineDatabase> database = BaselineDatabase::open(path, DatabaseMode::change);
    if (!database) return Unexpected(std::move(database.error()));
    return database->prune(keep);
  }
  std::size_t removed = 0;
  const Result<void> changed = change_json(path, [&](std::vector<StoredRun>& stored) {
    removed = stored.size() > keep ? stored.size() - keep : 0;
    stored.erase(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(removed));
    return removed > 0;
  });
  if (!changed) return Unexpected(changed.error());
  return removed;
}

}  // namespace doctor
