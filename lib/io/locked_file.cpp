#include "io/locked_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <thread>

#include "base/try.h"
#include "io/path_error.h"

namespace doctor {
namespace {

using Clock = std::chrono::steady_clock;

/// Between two tries. A call that waits could not be given up.
constexpr std::chrono::milliseconds kPause{10};

/// False, with errno set, where that cannot be.
bool lock_until(int descriptor, int lock, Clock::time_point end) {
  while (::flock(descriptor, lock | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || Clock::now() >= end) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace

bool is_named(const std::string& path, int descriptor) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 && named.st_ino == open.st_ino &&
         named.st_dev == open.st_dev;
}

Result<FileDescriptor> open_to_change(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file.is_open()) return Unexpected(path_error(path, errno));
  return file;
}

Result<FileDescriptor> lock_by_name(const std::string& path, const FileOpener& open, int lock,
                                    std::chrono::milliseconds patience) {
  const Clock::time_point end = Clock::now() + patience;
  while (true) {
    ASSIGN_OR_RETURN(FileDescriptor file, open(path));
    if (!lock_until(file.number(), lock, end)) {
      if (errno != EWOULDBLOCK) return Unexpected(path_error(path, errno));
      return fail(fmt::format("another program has had it locked for {} s",
                              std::chrono::duration_cast<std::chrono::seconds>(patience).count()),
                  path, "try again when that has ended");
    }
    if (is_named(path, file.number())) return file;
  }
}

}  // namespace doctor
