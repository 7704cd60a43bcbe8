#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "batch/path_set.h"

namespace doctor {

/// A trace file that was found in a folder.
struct FoundTrace {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;  ///< time of its last change since 1970

  friend bool operator==(const FoundTrace&, const FoundTrace&) = default;
};

/// Finds the trace files below a directory, at any depth, except `known` ones. Calls `tell` with the error of a folder
/// that could not be read.
std::vector<FoundTrace> look_for_traces(const std::string& directory, const PathSet& known,
                                        const std::function<void(const Error&)>& tell);

/// Finds out which traces of a folder are complete: a file that is being written is waited for.
class TraceWatch {
 public:
  /// `rest` is the time without writing after which a file that is seen for the first time counts as complete.
  explicit TraceWatch(std::chrono::nanoseconds rest) : rest_(rest) {}

  /// Takes the files found that are not in known(). Returns the paths of complete ones, each once: their size and time
  /// are unchanged since the last look, or nothing was written to them for `rest`. Files in the folder of a run
  /// (plugins/profile/RUN) are complete when all of them are, because they may be about one process.
  std::vector<std::string> take(const std::vector<FoundTrace>& found, std::int64_t now_ns);

  /// All paths that were returned.
  const PathSet& known() const { return known_; }

  /// The number of files in the last look that are not complete yet.
  std::size_t unfinished() const { return growing_.size(); }

 private:
  bool is_whole(const FoundTrace& trace, std::int64_t now_ns) const;

  std::chrono::nanoseconds rest_;
  PathSet known_;
  std::map<std::string, FoundTrace> growing_;  ///< by path
};

/// The steps of following a folder.
struct WatchSteps {
  std::function<std::vector<FoundTrace>(const PathSet& known)> look;
  std::function<std::int64_t()> now_ns;                              ///< since 1970
  std::function<Result<void>(std::vector<std::string> paths)> work;  ///< on traces that are complete
  std::function<bool()> wait;                                        ///< waits until the next look; false: the end
};

/// Looks, works and waits until the end. Errors: those of the work.
Result<void> follow(TraceWatch& watch, const WatchSteps& steps);

}  // namespace doctor
