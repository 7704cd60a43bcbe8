#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "io/file_io.h"
#include "io/stored_source.h"

namespace doctor {
namespace {

std::uint64_t size_of(const FileDescriptor& file) {
  struct stat status {};
  return ::fstat(file.number(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

class FileSource final : public ByteSource {
 public:
  FileSource(FileDescriptor file, std::string name) : file_(std::move(file)), name_(std::move(name)) {
    const off_t present = ::lseek(file_.number(), 0, SEEK_CUR);
    start_ = present > 0 ? static_cast<std::uint64_t>(present) : 0;
    size_ = length();
    ::posix_fadvise(file_.number(), static_cast<off_t>(start_), 0, POSIX_FADV_SEQUENTIAL);
  }

  Result<std::size_t> read(char* buffer, std::size_t capacity) override {
    if (capacity == 0) return std::size_t{0};
    const auto offset = static_cast<off_t>(start_ + position_);
    const ssize_t count = uninterrupted([&] { return ::pread(file_.number(), buffer, capacity, offset); });
    if (count < 0) return fail("cannot be read: " + std::system_category().message(errno), name_, {}, position_);
    if (count == 0 && position_ < size_) {
      return fail("the file became shorter while it was read", name_, "wait until it is written, then try again",
                  position_);
    }
    position_ += static_cast<std::uint64_t>(count);
    return static_cast<std::size_t>(count);
  }

  Result<std::uint64_t> skip(std::uint64_t count) override {
    if (position_ >= size_ || count > size_ - position_) size_ = std::max(size_, length());  // it may have grown
    const std::uint64_t skipped = std::min(count, size_ - std::min(size_, position_));
    position_ += skipped;
    return skipped;
  }

  Result<void> rewind() override {
    position_ = 0;
    return {};
  }

  const std::string& name() const override { return name_; }
  std::uint64_t stored_size() const override { return size_; }
  std::uint64_t stored_position() const override { return position_; }
  bool is_compressed() const override { return false; }

 private:
  std::uint64_t length() const {
    const std::uint64_t size = size_of(file_);
    return size - std::min(size, start_);
  }

  FileDescriptor file_;
  std::string name_;
  std::uint64_t start_ = 0;  // offset of our first byte in the file
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> file_source(FileDescriptor file, std::string name) {
  return std::make_unique<FileSource>(std::move(file), std::move(name));
}

Result<std::unique_ptr<ByteSource>> descriptor_source(FileDescriptor input, std::string name) {
  struct stat status {};
  if (::fstat(input.number(), &status) != 0) return Unexpected(path_error(name, errno));
  if (S_ISDIR(status.st_mode)) return fail("is a directory, not a trace file", name, "name a trace file in it");
  if (S_ISREG(status.st_mode)) return file_source(std::move(input), std::move(name));
  return spooled_source(std::move(input), std::move(name));
}

Result<std::uint64_t> skip_by_reading(ByteSource& source, std::uint64_t count) {
  std::array<char, std::size_t{32} * 1024> discarded;
  std::uint64_t skipped = 0;
  while (skipped < count) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count - skipped, discarded.size()));
    const Result<std::size_t> piece = source.read(discarded.data(), wanted);
    if (!piece && skipped == 0) return Unexpected(piece.error());
    if (!piece || *piece == 0) break;
    skipped += *piece;
  }
  return skipped;
}

}  // namespace doctor
