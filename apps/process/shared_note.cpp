#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "process/worker_pool.h"

namespace doctor {

struct SharedNote::Memory {
  std::atomic<std::uint64_t> length;  ///< set when the text is whole
  char text[kMostBytes];
};

SharedNote::SharedNote(SharedNote&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}

SharedNote& SharedNote::operator=(SharedNote&& other) noexcept {
  std::swap(memory_, other.memory_);
  return *this;
}

SharedNote::~SharedNote() {
  if (memory_ != nullptr) ::munmap(memory_, sizeof(Memory));
}

Result<SharedNote> SharedNote::make() {
  void* const memory = ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return fail(std::string("no shared memory can be had: ") + std::strerror(errno), {});
  return SharedNote(static_cast<Memory*>(memory));  // zeros: an empty note
}

void SharedNote::write(std::string_view text) {
  memory_->length.store(text.copy(memory_->text, kMostBytes), std::memory_order_release);
}

std::string SharedNote::read() const {
  return {memory_->text, std::min<std::size_t>(memory_->length.load(std::memory_order_acquire), kMostBytes)};
}

}  // namespace doctor
