#include "io/file_io.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <vector>

#include "text/escape.h"

namespace doctor {

ssize_t read_some(int descriptor, char* buffer, std::size_t capacity) {
  return uninterrupted([&] { return ::read(descriptor, buffer, capacity); });
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = uninterrupted([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string temporary_directory() {
  const char* const chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
}

FileDescriptor open_unnamed_file() {
  std::string path = temporary_directory() + "/tfdata-doctor-XXXXXX";
  FileDescriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (file.is_open()) ::unlink(path.c_str());
  return file;
}

namespace {

/// A file that has a gigabyte, where less than a tenth of the file system is free.
bool leaves_no_room(int descriptor) {
  struct stat file = {};
  struct statvfs system = {};
  return ::fstat(descriptor, &file) == 0 && file.st_size >= off_t{1} << 30 && ::fstatvfs(descriptor, &system) == 0 &&
         system.f_bavail < system.f_blocks / 10;
}

}  // namespace

Result<void> add_to_temporary_file(const FileDescriptor& file, std::string_view bytes, const std::string& name) {
  std::string reason;
  if (file.is_open() && leaves_no_room(file.number())) {
    reason = "nine tenths of it are full";
  } else if (file.is_open() && write_all(file.number(), bytes)) {
    return {};
  } else {
    reason = std::system_category().message(errno);
  }
  return fail("cannot be kept in '" + temporary_directory() + "': " + reason, name,
              "save it to a file, or set TMPDIR to a directory with room");
}

Result<FileDescriptor> store_standard_input() {
  const std::string name = "standard input";
  FileDescriptor file = open_unnamed_file();
  if (const Result<void> made = add_to_temporary_file(file, {}, name); !made) return Unexpected(made.error());
  std::string block(std::size_t{64} << 10, '\0');
  while (true) {
    const ssize_t count = read_some(STDIN_FILENO, block.data(), block.size());
    if (count < 0) return Unexpected(path_error(name, errno));
    if (count == 0) return file;
    const std::string_view read = std::string_view(block).substr(0, static_cast<std::size_t>(count));
    if (const Result<void> added = add_to_temporary_file(file, read, name); !added) return Unexpected(added.error());
  }
}

std::string path_of(const FileDescriptor& file) {
  return "/proc/self/fd/" + std::to_string(file.number());
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 255;      // no file system here has longer ones
constexpr std::size_t kLongestScheme = 8;      // "https"
constexpr std::size_t kMostEntries = 10'000;   // a hint is not worth reading more
constexpr std::size_t kLettersPerMistake = 3;  // one wrong letter in three is still the same name

/// How many letters must be put in, left out, replaced or swapped with their neighbour.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> before_last(right.size() + 1);
  std::vector<std::size_t> last(right.size() + 1);
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool is_swap = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (is_swap) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

std::string nearest_name(const fs::path& directory, const std::string& name) {
  std::string nearest;
  std::size_t least = kLongestName + 1;
  if (name.empty() || name.size() > kLongestName) return nearest;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (std::size_t seen = 0; !error && entry != fs::directory_iterator() && seen < kMostEntries; ++seen) {
    const std::string candidate = entry->path().filename().string();
    const std::size_t distance = edit_distance(name, candidate);
    const bool is_close = distance * kLettersPerMistake <= std::max(name.size(), candidate.size());
    const bool is_nearer = distance < least || (distance == least && candidate < nearest);
    // Not the target of a broken link, and not what this user may not read.
    if (is_close && is_nearer && ::access(entry->path().c_str(), R_OK) == 0) {
      least = distance;
      nearest = candidate;
    }
    entry.increment(error);
  }
  return nearest;
}

Error missing_path(const std::string& path) {
  if (path.find("://") < kLongestScheme) {
    const std::string command = path.starts_with("hdfs://") ? "hdfs dfs -cat " + shell_word(path) : "COMMAND";
    return {"is not a path of this machine", path, std::nullopt, "pipe it: " + command + " | tfdata-doctor -"};
  }
  Error error{"no such file or directory", path, std::nullopt, {}};
  fs::path given(path);
  if (!given.has_filename() && given.has_relative_path()) given = given.parent_path();  // "logs/" names "logs"
  const fs::path parent = given.has_parent_path() ? given.parent_path() : fs::path(".");
  std::error_code ignored;
  if (!fs::is_directory(parent, ignored)) {
    error.next = "there is no directory '" + parent.string() + "' either";
    return error;
  }
  const std::string nearest = nearest_name(parent, given.filename().string());
  if (!nearest.empty()) {
    const fs::path suggestion = given.has_parent_path() ? parent / nearest : fs::path(nearest);
    error.next = "did you mean '" + suggestion.string() + "'?";
  }
  return error;
}

}  // namespace

Result<void> check_that_it_ends(const std::string& path) {
  const bool is_open_already =
      path == "-" || path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
  struct stat status {};
  if (is_open_already || ::stat(path.c_str(), &status) != 0) return {};
  if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return {};
  const char* const kind = S_ISFIFO(status.st_mode)   ? "a named pipe"
                           : S_ISSOCK(status.st_mode) ? "a socket"
                                                      : "a device";
  return fail(std::string("is ") + kind + ", which may never end", path,
              "to read it, name it as standard input: - < " + path);
}

Error path_error(const std::string& path, int error_number) {
  switch (error_number) {
    case ENOENT:
      return missing_path(path);
    case EACCES:
      return {"permission denied", path, std::nullopt, "make it readable, or run as a user who may read it"};
    case ENOSPC:
    case EDQUOT:
    case EROFS:
    case EFBIG:
      // Nothing that only reads meets with these.
      return {"cannot be written: " + std::system_category().message(error_number), path, std::nullopt, {}};
    default:
      return {"cannot be read: " + std::system_category().message(error_number), path, std::nullopt, {}};
  }
}

}  // namespace doctor
