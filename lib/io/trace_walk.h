#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/trace_folder.h"

namespace doctor {

/// All trace files below a directory at any depth, of each host in a folder only the richest, one after another: what
/// is kept is one folder and the names of those still to be entered. Links of traces that lead nowhere are files, too:
/// who opens them sees it. By name within a folder; folders before links to folders. Enters every folder once.
class TraceWalk {
 public:
  explicit TraceWalk(const std::string& directory) : folders_({directory}) {}

  /// The next file, or why a folder could not be read; the walk goes on after that. nullopt at the end.
  std::optional<Result<std::string>> next();

 private:
  std::vector<std::filesystem::path> folders_;  ///< still to be entered, the next one last
  std::vector<std::filesystem::path> linked_;   ///< by symbolic links
  EnteredFolders entered_;
  std::deque<std::string> files_;  ///< of the folder that was entered last
};

}  // namespace doctor
