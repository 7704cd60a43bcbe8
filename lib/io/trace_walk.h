#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/trace_folder.h"

namespace doctor {

/// Tests whether the content of a file may be a trace although its name, without a folder, does not say so:
/// "rank-0.json.gz".
bool may_be_trace(std::string_view name);

/// Files of folders that are not traces.
struct PassedOver {
  std::uint64_t count = 0;
  std::vector<std::string> first;  ///< paths of the first few

  void add(std::string path);
};

/// All trace files below a directory at any depth, one after another, only the richest of each host in a folder. It
/// keeps one folder, and the names of those still to be entered. Links to traces that do not exist count as files, too,
/// so that opening them reports it. Files come by name within a folder; folders come before links to folders, and each
/// is entered once.
class TraceWalk {
 public:
  /// Without `passed_over` names alone tell what is a trace. With it, JSON files and messages (".pb") of other names
  /// come after the traces of a folder, because their content may tell, and all further files are added to it.
  explicit TraceWalk(const std::string& directory, PassedOver* passed_over = nullptr)
      : folders_({directory}), passed_over_(passed_over) {}

  /// The next file, or the error of a folder that could not be read; the walk goes on after that. nullopt at the end.
  std::optional<Result<std::string>> next();

 private:
  void take_others(const std::filesystem::path& here, const std::vector<std::string>& names);

  std::vector<std::filesystem::path> folders_;  ///< still to be entered, the next one last
  std::vector<std::filesystem::path> linked_;   ///< folders that symbolic links lead to
  EnteredFolders entered_;
  std::deque<std::string> files_;  ///< files of the folder that was entered last
  PassedOver* passed_over_;
};

}  // namespace doctor
