#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "io/file_io.h"
#include "io/stored_source.h"

namespace doctor {
namespace {

// Large enough that finding out the format and going back never touches the disk.
constexpr std::size_t kKeptInMemory = std::size_t{1024} * 1024;

/// Waits for bytes even when whoever started us left the descriptor non-blocking.
ssize_t read_waiting(int descriptor, char* buffer, std::size_t capacity) {
  for (;;) {
    const ssize_t count = read_some(descriptor, buffer, capacity);
    if (count >= 0 || errno != EAGAIN) return count;
    pollfd readable{descriptor, POLLIN, 0};
    ::poll(&readable, 1, -1);
  }
}

class SpooledSource final : public ByteSource {
 public:
  SpooledSource(FileDescriptor input, std::string name) : input_(std::move(input)), name_(std::move(name)) {}

  Result<std::size_t> read(char* buffer, std::size_t capacity) override {
    if (capacity == 0) return std::size_t{0};
    Result<std::size_t> count = position_ < received_ ? read_kept(buffer, capacity) : receive(buffer, capacity);
    if (count) position_ += *count;
    return count;
  }

  Result<std::uint64_t> skip(std::uint64_t count) override {
    const std::uint64_t kept = std::min(count, received_ - position_);
    position_ += kept;
    if (kept == count) return kept;
    const Result<std::uint64_t> rest = skip_by_reading(*this, count - kept);
    if (!rest && kept == 0) return Unexpected(rest.error());
    return kept + rest.value_or(0);
  }

  Result<void> rewind() override {
    if (keep_fault_) return Unexpected(*keep_fault_);
    position_ = 0;
    return {};
  }

  const std::string& name() const override { return name_; }
  std::uint64_t stored_size() const override { return received_; }
  std::uint64_t stored_position() const override { return position_; }
  bool is_compressed() const override { return false; }

 private:
  Result<std::size_t> receive(char* buffer, std::size_t capacity) {
    if (read_fault_) return Unexpected(*read_fault_);
    if (ended_) return std::size_t{0};
    const ssize_t count = read_waiting(input_.number(), buffer, capacity);
    if (count < 0) {
      read_fault_ = Error{"cannot be read: " + std::system_category().message(errno), name_, received_, {}};
      return Unexpected(*read_fault_);
    }
    ended_ = count == 0;  // asking a terminal again after its end would wait for more
    const std::size_t length = static_cast<std::size_t>(count);
    keep({buffer, length});
    received_ += length;
    return length;
  }

  /// Once this has failed there is a hole: nothing may be read back any more, which rewind() sees to.
  void keep(std::string_view bytes) {
    if (keep_fault_) return;
    const std::size_t in_memory = std::min(bytes.size(), kKeptInMemory - memory_.size());
    memory_.append(bytes.substr(0, in_memory));
    bytes.remove_prefix(in_memory);
    if (bytes.empty()) return;
    if (!spool_.is_open()) spool_ = open_unnamed_file();
    const Result<void> added = add_to_temporary_file(spool_, bytes, name_);
    if (!added) keep_fault_ = added.error();
  }

  Result<std::size_t> read_kept(char* buffer, std::size_t capacity) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(capacity, received_ - position_));
    if (position_ < memory_.size()) return memory_.copy(buffer, wanted, static_cast<std::size_t>(position_));
    const auto offset = static_cast<off_t>(position_ - memory_.size());
    const ssize_t count = uninterrupted([&] { return ::pread(spool_.number(), buffer, wanted, offset); });
    if (count > 0) return static_cast<std::size_t>(count);
    const std::string reason = count < 0 ? std::system_category().message(errno) : "it became shorter";
    return fail("the temporary copy cannot be read: " + reason, name_, {}, position_);
  }

  FileDescriptor input_;
  std::string name_;
  std::string memory_;  // the first kKeptInMemory bytes; the spool holds those after them
  FileDescriptor spool_;
  std::uint64_t received_ = 0;
  std::uint64_t position_ = 0;
  bool ended_ = false;
  std::optional<Error> read_fault_;
  std::optional<Error> keep_fault_;
};

}  // namespace

std::unique_ptr<ByteSource> spooled_source(FileDescriptor input, std::string name) {
  return std::make_unique<SpooledSource>(std::move(input), std::move(name));
}

}  // namespace doctor
