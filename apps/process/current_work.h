#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/work.h"

namespace doctor {

/// The files that the program is working on. There is one for the process, because memory can run out in any thread and
/// the message names the place.
struct CurrentWork {
  Progress progress;
  /// The traces in the order they are read, escaped for a terminal or a log. Set before threads start.
  std::vector<std::string> file_names;
};

CurrentWork& current_work();

/// Notes which traces will be read.
void name_current_files(const std::vector<std::string>& files);

/// Text in memory of its own, because there may be none left. Text that does not fit is dropped.
class FixedText {
 public:
  void add(std::string_view part) {
    part = part.substr(0, text_.size() - size_);
    part.copy(text_.data() + size_, part.size());
    size_ += part.size();
  }

  std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 8'192> text_;
  std::size_t size_ = 0;
};

/// Adds the place of the work: "reading host.xplane.pb, 412 of 1,027 MB read".
void add_place(FixedText& text);

/// Prints the text and ends the program with kExitFailure, while other threads are at work. Files after -o do not have
/// their names yet.
[[noreturn]] void end_with(const FixedText& text);

}  // namespace doctor
