#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/byte_source.h"
#include "io/file_descriptor.h"
#include "io/gzip_source.h"
#include "io/path_error.h"
#include "io/stored_source.h"

namespace doctor {
namespace {

int open_waiting(const std::string& path) {
  int number = -1;
  do {
    number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (number < 0 && errno == EINTR);  // opening a named pipe waits for its writer
  return number;
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path) {
  const bool is_standard_input = path == "-";
  const std::string name = is_standard_input ? "standard input" : path;
  FileDescriptor input(is_standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open_waiting(path));
  if (!input.is_open()) return Unexpected(path_error(name, errno));
  Result<std::unique_ptr<ByteSource>> stored = descriptor_source(std::move(input), name);
  if (!stored) return stored;
  return inflated_if_gzip(std::move(*stored));
}

}  // namespace doctor
