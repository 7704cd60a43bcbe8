#pragma once

#include <string>
#include <vector>

#include "base/work.h"

namespace doctor {

/// What the program is working on. One for the process, because memory can run out in any thread and the message says
/// where.
struct CurrentWork {
  Progress progress;
  /// The traces in the order they are read, ready to be printed to a terminal or a log. Set before threads start.
  std::vector<std::string> file_names;
};

CurrentWork& current_work();

/// Notes which traces will be read.
void name_current_files(const std::vector<std::string>& files);

}  // namespace doctor
