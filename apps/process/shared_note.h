#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace doctor {

/// What a process tells the one that forked it, in memory that both share: to note something wakes nobody, and the note
/// is still there when the process was killed. Made before the fork. Linux.
class SharedNote {
 public:
  SharedNote() = default;
  SharedNote(const SharedNote&) = delete;
  SharedNote& operator=(const SharedNote&) = delete;
  SharedNote(SharedNote&& other) noexcept;
  SharedNote& operator=(SharedNote&& other) noexcept;
  ~SharedNote();

  /// Errors: there is no memory.
  static Result<SharedNote> make();

  /// Replaces what was noted before. At most kMostBytes are kept.
  void write(std::string_view text);

  /// What was written last, or nothing. Not to be called while another note may be written: it may be of two.
  std::string read() const;

  static constexpr std::size_t kMostBytes = 248;  // a SHA-256 in hex has 64

 private:
  struct Memory;
  explicit SharedNote(Memory* memory) : memory_(memory) {}

  Memory* memory_ = nullptr;
};

}  // namespace doctor
