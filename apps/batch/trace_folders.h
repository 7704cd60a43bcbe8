#pragma once

#include <set>
#include <string>
#include <vector>

namespace doctor {

/// The known folders of a batch's traces, which its workers may read. If there are very many, the one that contains
/// them all.
class TraceFolders {
 public:
  /// Adds a file or folder that the user named.
  void add_named(const std::string& path);

  /// Tests whether the trace lies below a known folder, and makes its folder known if not.
  bool take(const std::string& trace);

  /// Tests whether the target of the path lies below a known folder.
  bool knows(const std::string& trace) const;

  std::vector<std::string> list() const { return {folders_.begin(), folders_.end()}; }

 private:
  bool knows_folder(const std::string& folder) const;
  bool take_folder(const std::string& folder);

  std::set<std::string> folders_;  ///< without links
  std::string last_;               ///< the folder of the last trace, as it was named
};

}  // namespace doctor
