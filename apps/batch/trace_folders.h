#pragma once

#include <set>
#include <string>
#include <vector>

namespace doctor {

/// The folders that hold the traces of a batch, as far as they are known: what its workers may read. Of very many the
/// one that holds them all.
class TraceFolders {
 public:
  /// Adds a file or folder that the user named.
  void add_named(const std::string& path);

  /// Whether the trace lies below a folder that is known; from now on it does.
  bool take(const std::string& trace);

  /// Whether what the path leads to lies below a folder that is known.
  bool knows(const std::string& trace) const;

  std::vector<std::string> list() const { return {folders_.begin(), folders_.end()}; }

 private:
  bool knows_folder(const std::string& folder) const;
  bool take_folder(const std::string& folder);

  std::set<std::string> folders_;  ///< without links
  std::string last_;               ///< as it was named
};

}  // namespace doctor
