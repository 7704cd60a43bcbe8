#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/trace_folder.h"

namespace doctor {

/// All trace files below a directory at any depth, one after another, only the richest of each host in a folder. It
/// keeps one folder, and the names of those still to be entered. Links to traces that do not exist count as files, too,
/// so that opening them reports it. Files come by name within a folder; folders come before links to folders, and each
/// is entered once.
class TraceWalk {
 public:
  explicit TraceWalk(const std::string& directory) : folders_({directory}) {}

  /// The next file, or the error of a folder that could not be read; the walk goes on after that. nullopt at the end.
  std::optional<Result<std::string>> next();

 private:
  std::vector<std::filesystem::path> folders_;  ///< still to be entered, the next one last
  std::vector<std::filesystem::path> linked_;   ///< folders that symbolic links lead to
  EnteredFolders entered_;
  std::deque<std::string> files_;  ///< files of the folder that was entered last
};

}  // namespace doctor
