#include "io/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "io/file_descriptor.h"
#include "io/file_io.h"

namespace doctor {

bool is_named(const std::string& path, int descriptor) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 && named.st_ino == open.st_ino &&
         named.st_dev == open.st_dev;
}

int lock_by_name(const std::string& path) {
  for (;;) {
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!file.is_open()) return -1;
    if (uninterrupted([&] { return ::flock(file.number(), LOCK_EX); }) != 0) return -1;
    if (is_named(path, file.number())) return file.release();
  }
}

}  // namespace doctor
