#include "io/stored_input.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

#include "io/path_error.h"
#include "io/unnamed_file.h"
#include "io/write_all.h"

namespace doctor {

Result<FileDescriptor> store_standard_input() {
  const std::string temporary = "temporary file for standard input";
  FileDescriptor file = open_unnamed_file();
  if (!file.is_open()) return Unexpected(path_error(temporary, errno));
  std::string block(std::size_t{64} << 10, '\0');
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
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
