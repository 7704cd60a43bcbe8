#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/work.h"

namespace doctor {

/// Size in bytes of a file as stored, without opening it; nothing for what has no size before its end, like a pipe. 0
/// for a file that cannot be found: it will not be read either.
std::optional<std::uint64_t> stored_size_of(const std::string& file);

/// Keeps the part of `Progress` that changes from file to file. Readers update the rest within one file.
class FileProgress {
 public:
  /// `progress` may be null.
  FileProgress(Progress* progress, std::span<const std::string> files);

  void begin_file(std::size_t index);
  void end_file(const std::string& file);

 private:
  Progress* progress_;
};

}  // namespace doctor
