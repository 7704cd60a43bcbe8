#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "io/byte_source.h"
#include "io/file_descriptor.h"
#include "io/file_io.h"
#include "io/gzip.h"
#include "io/stored_source.h"

namespace doctor {
namespace {

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  Result<std::size_t> read(char* buffer, std::size_t capacity) override {
    if (capacity == 0) return std::size_t{0};
    const std::size_t count = bytes_.copy(buffer, capacity, position_);
    position_ += count;
    return count;
  }

  Result<std::uint64_t> skip(std::uint64_t count) override {
    const std::uint64_t skipped = std::min<std::uint64_t>(count, bytes_.size() - position_);
    position_ += static_cast<std::size_t>(skipped);
    return skipped;
  }

  Result<void> rewind() override {
    position_ = 0;
    return {};
  }

  const std::string& name() const override { return name_; }
  std::uint64_t stored_size() const override { return bytes_.size(); }
  std::uint64_t stored_position() const override { return position_; }
  bool is_compressed() const override { return false; }

 private:
  std::string_view bytes_;
  std::string name_;
  std::size_t position_ = 0;
};

int open_to_read(const char* path) {
  return uninterrupted([&] { return ::open(path, O_RDONLY | O_CLOEXEC); });
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path) {
  const bool is_standard_input = path == "-";
  const std::string name = is_standard_input ? "standard input" : path;
  if (const Result<void> ends = check_that_it_ends(path); !ends) return Unexpected(ends.error());
  FileDescriptor input(is_standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open_to_read(path.c_str()));
  if (!input.is_open()) return Unexpected(path_error(name, errno));
  Result<std::unique_ptr<ByteSource>> stored = descriptor_source(std::move(input), name);
  if (!stored) return stored;
  return inflated_if_gzip(std::move(*stored));
}

std::unique_ptr<ByteSource> stored_bytes_source(std::string_view bytes, std::string name) {
  return std::make_unique<MemorySource>(bytes, std::move(name));
}

std::unique_ptr<ByteSource> memory_source(std::string_view bytes, std::string name) {
  // Reading memory cannot fail, so neither can looking at its first bytes.
  return *inflated_if_gzip(stored_bytes_source(bytes, std::move(name)));
}

Result<std::string> read_bounded_file(const std::string& path, std::size_t most_bytes) {
  const Result<std::unique_ptr<ByteSource>> source = open_source(path);
  if (!source) return Unexpected(source.error());
  std::string text;
  std::string buffer(std::size_t{1} << 16U, '\0');
  while (true) {
    const Result<std::size_t> count = (*source)->read(buffer.data(), buffer.size());
    if (!count) return Unexpected(count.error());
    if (*count == 0) return text;
    if (text.size() + *count > most_bytes) return fail(fmt::format("is larger than {} MB", most_bytes >> 20U), path);
    text.append(buffer, 0, *count);
  }
}

}  // namespace doctor
