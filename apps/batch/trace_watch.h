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

/// A trace file as a look at a folder finds it.
struct FoundTrace {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;  ///< since 1970: its last change

  friend bool operator==(const FoundTrace&, const FoundTrace&) = default;
};

/// The trace files below a directory, at any depth, but for `known` ones. Calls `tell` with why a folder could not be
/// read.
std::vector<FoundTrace> look_for_traces(const std::string& directory, const PathSet& known,
                                        const std::function<void(const Error&)>& tell);

/// Which traces of a folder are whole: a file that is being written is waited for.
class TraceWatch {
 public:
  /// `rest`: how long nothing may have been written to a whole file, where it is seen for the first time.
  explicit TraceWatch(std::chrono::nanoseconds rest) : rest_(rest) {}

  /// Takes what a look found that is not in known(). Returns the paths of those that are whole, each only once: their
  /// size and time are the same as in the look before, or nothing was written to them for so long. What lies in the
  /// folder of a run (plugins/profile/RUN) is whole when all of it is, for its files may be about one process.
  std::vector<std::string> take(const std::vector<FoundTrace>& found, std::int64_t now_ns);

  /// All paths that were returned.
  const PathSet& known() const { return known_; }

  /// Files that the last look has found, and that are not whole yet.
  std::size_t unfinished() const { return growing_.size(); }

 private:
  bool is_whole(const FoundTrace& trace, std::int64_t now_ns) const;

  std::chrono::nanoseconds rest_;
  PathSet known_;
  std::map<std::string, FoundTrace> growing_;  ///< by path
};

/// What following a folder consists of.
struct WatchSteps {
  std::function<std::vector<FoundTrace>(const PathSet& known)> look;
  std::function<std::int64_t()> now_ns;                              ///< since 1970
  std::function<Result<void>(std::vector<std::string> paths)> work;  ///< on traces that are whole
  std::function<bool()> wait;                                        ///< for the time of the next look; false: the end
};

/// Looks, works and waits until the end. Errors: those of the work.
Result<void> follow(TraceWatch& watch, const WatchSteps& steps);

}  // namespace doctor
