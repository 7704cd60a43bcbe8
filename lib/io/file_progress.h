#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/work.h"

namespace doctor {

/// The part of the progress that goes from file to file; the readers fill in what is within one.
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
