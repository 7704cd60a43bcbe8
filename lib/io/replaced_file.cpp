#include "io/replaced_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>
#include <thread>

#include "base/try.h"
#include "io/file_io.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

/// Rights that a new file gets.
mode_t mode_of_new_file() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

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

std::string followed(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux
  fs::path target = path;
  std::error_code error;
  for (int links = 0; links < kMostLinks && fs::is_symlink(fs::symlink_status(target, error)); ++links) {
    const fs::path next = fs::read_symlink(target, error);
    if (error == std::errc::not_enough_memory) throw std::bad_alloc();  // else the link would be replaced
    if (error) break;
    target = target.parent_path() / next;  // an absolute one replaces what stands before it
  }
  return target.string();
}

ReplacedFile::ReplacedFile(ReplacedFile&& other) noexcept {
  *this = std::move(other);
}

ReplacedFile& ReplacedFile::operator=(ReplacedFile&& other) noexcept {
  std::swap(target_, other.target_);
  std::swap(temporary_, other.temporary_);
  std::swap(file_, other.file_);
  return *this;
}

ReplacedFile::~ReplacedFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

int ReplacedFile::begin(const std::string& path) {
  target_ = followed(path);
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) return S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
  const mode_t mode = exists ? status.st_mode & 07777 : mode_of_new_file();
  const std::string folder = fs::path(target_).parent_path().string();
  if (::access("/proc/self/fd", F_OK) == 0) {  // else it could not be given a name: take_name() goes through path_of()
    file_ = FileDescriptor(::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  }
  if (!file_.is_open()) {  // not every file system has files without a name
    temporary_ = target_ + ".XXXXXX";
    file_ = FileDescriptor(::mkostemp(temporary_.data(), O_CLOEXEC));
    if (!file_.is_open()) {
      const int error = errno;
      temporary_.clear();
      return error;
    }
  }
  return ::fchmod(file_.number(), mode) == 0 ? 0 : errno;
}

int ReplacedFile::take_name() {
  if (temporary_.empty()) {
    // A link replaces nothing, so it goes over a name of its own.
    std::string name = target_ + ".XXXXXX";
    const FileDescriptor reserved(::mkostemp(name.data(), O_CLOEXEC));
    if (!reserved.is_open() || ::unlink(name.c_str()) != 0) return errno;
    if (::linkat(AT_FDCWD, path_of(file_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) return errno;
    temporary_ = name;
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) return errno;
  temporary_.clear();
  return 0;
}

int ReplacedFile::finish() {
  if (::fsync(file_.number()) != 0) return errno;
  return take_name();
}

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
