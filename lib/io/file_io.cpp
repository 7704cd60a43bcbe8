#include "io/file_io.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>

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

Result<FileDescriptor> store_standard_input() {
  const std::string temporary = "temporary file for standard input";
  FileDescriptor file = open_unnamed_file();
  if (!file.is_open()) return Unexpected(path_error(temporary, errno));
  std::string block(std::size_t{64} << 10, '\0');
  while (true) {
    const ssize_t count = read_some(STDIN_FILENO, block.data(), block.size());
    if (count < 0) return Unexpected(path_error("standard input", errno));
    if (count == 0) return file;
    if (!write_all(file.number(), std::string_view(block).substr(0, static_cast<std::size_t>(count)))) {
      return Unexpected(path_error(temporary, errno));
    }
  }
}

std::string path_of(const FileDescriptor& file) {
  return "/proc/self/fd/" + std::to_string(file.number());
}

}  // namespace doctor
