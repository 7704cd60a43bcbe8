#include "query_bounds.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>

#include "process/time_limit.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kStatBlock = 512;  // POSIX: what st_blocks counts
/// Of the room that is left in the folder of temporary files: others need some, too.
constexpr std::uint64_t kPartOfRoom = 2;

/// Where SQLite puts temporary files.
std::string temporary_folder() {
  for (const char* const name : {"SQLITE_TMPDIR", "TMPDIR"}) {
    const char* const folder = std::getenv(name);
    if (folder != nullptr && *folder != '\0') return folder;
  }
  return "/var/tmp";
}

std::uint64_t room_in(const std::string& folder) {
  struct statvfs room {};
  if (::statvfs(folder.c_str(), &room) != 0) return std::numeric_limits<std::uint64_t>::max();
  return std::uint64_t{room.f_bavail} * room.f_frsize;
}

/// Bytes of the files that this process has open and that have no name any more: SQLite's, among them.
std::uint64_t stored_in_temporary_files() {
  std::uint64_t blocks = 0;
  std::error_code error;
  fs::directory_iterator entry("/proc/self/fd", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    struct stat status {};
    const bool is_open = ::stat(entry->path().c_str(), &status) == 0;
    if (is_open && S_ISREG(status.st_mode) && status.st_nlink == 0)
      blocks += static_cast<std::uint64_t>(status.st_blocks);
  }
  return blocks * kStatBlock;
}

}  // namespace

QueryBounds::QueryBounds()
    : stored_before_(stored_in_temporary_files()), most_stored_(room_in(temporary_folder()) / kPartOfRoom) {}

std::optional<Error> QueryBounds::broken() const {
  if (is_time_over()) {
    return Error{fmt::format("takes longer than --timeout {} allows", time_limit()->count()),
                 "SQL",
                 {},
                 "allow more (0: no limit), or ask for less, e.g. with LIMIT"};
  }
  const std::uint64_t stored = stored_in_temporary_files();
  if (stored > stored_before_ && stored - stored_before_ > most_stored_) {
    return Error{fmt::format("its temporary files take more than {} MiB, half of what is left in {}",
                             most_stored_ >> 20, temporary_folder()),
                 "SQL",
                 {},
                 "ask for less, or set SQLITE_TMPDIR to a folder with more room"};
  }
  return std::nullopt;
}

}  // namespace doctor
