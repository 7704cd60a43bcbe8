#include "io/file_io.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

#include "io/path_error.h"

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

}  // namespace doctor
