#pragma once

#include <span>
#include <string>

#include "base/work.h"

namespace doctor {

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
