#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace bench {

/// Bytes that the floors read at a time.
inline constexpr std::size_t kWindow = std::size_t{512} << 10;

/// A file that is read once from start to end.
class InputFile {
 public:
  explicit InputFile(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) throw std::runtime_error("cannot read the file");
  }
  ~InputFile() { ::close(file_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Fills the buffer as far as there are bytes and returns how many; 0 at the end.
  std::size_t read(char* buffer, std::size_t capacity) {
    std::size_t size = 0;
    while (size < capacity) {
      const ssize_t count = ::read(file_, buffer + size, capacity - size);
      if (count < 0) throw std::runtime_error("cannot read the file");
      if (count == 0) break;
      size += static_cast<std::size_t>(count);
    }
    return size;
  }

 private:
  int file_;
};

}  // namespace bench
