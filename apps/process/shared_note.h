#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace doctor {

/// A note from a process to the one that forked it, in memory that both share. Writing it wakes nobody, and the note is
/// still there when the process was killed. Must be made before the fork. Linux.
class SharedNote {
 public:
  SharedNote() = default;
  SharedNote(const SharedNote&) = delete;
  SharedNote& operator=(const SharedNote&) = delete;
  SharedNote(SharedNote&& other) noexcept;
  SharedNote& operator=(SharedNote&& other) noexcept;
  ~SharedNote();

  /// Makes a note. Errors: there is no memory.
  static Result<SharedNote> make();

  /// Replaces the note. At most kMostBytes are kept.
  void write(std::string_view text);

  /// The last note, or an empty text. Must not be called while another note may be written: the result may be of two.
  std::string read() const;

  static constexpr std::size_t kMostBytes = 248;  // a SHA-256 in hex has 64

 private:
  struct Memory;
  explicit SharedNote(Memory* memory) : memory_(memory) {}

  Memory* memory_ = nullptr;
};

}  // namespace doctor
