#pragma once

#include <string>
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

}  // namespace doctor
