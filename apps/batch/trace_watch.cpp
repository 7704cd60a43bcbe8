#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include "base/try.h"
#include "batch/trace_list.h"
#include "fleet/trace_run.h"
#include "io/path_error.h"
#include "io/trace_walk.h"

namespace doctor {

std::vector<FoundTrace> look_for_traces(const std::string& directory, const PathSet& known,
                                        const std::function<void(const Error&)>& tell) {
  std::vector<FoundTrace> found;
  struct stat folder {};
  if (::stat(directory.c_str(), &folder) != 0) tell(path_error(directory, errno));  // it may come back
  TraceWalk walk(directory);
  while (const std::optional<Result<std::string>> path = walk.next()) {
    if (!*path) {
      tell(path->error());
      continue;
    }
    if (known.contains(**path)) continue;
    struct stat status {};  // stays so where a link leads nowhere: who opens it tells
    static_cast<void>(::stat((*path)->c_str(), &status));
    found.push_back({**path, static_cast<std::uint64_t>(status.st_size),
                     status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec});
  }
  return found;
}

bool TraceWatch::is_whole(const FoundTrace& trace, std::int64_t now_ns) const {
  const auto before = growing_.find(trace.path);
  const bool is_same = before != growing_.end() && before->second == trace;
  return is_same || now_ns - trace.modified_ns >= rest_.count();
}

std::vector<std::string> TraceWatch::take(const std::vector<FoundTrace>& found, std::int64_t now_ns) {
  std::map<std::string, FoundTrace> growing;
  std::set<std::string> growing_runs;
  for (const FoundTrace& trace : found) {
    if (is_whole(trace, now_ns)) continue;
    growing.emplace(trace.path, trace);
    if (std::string run = run_folder_of(trace.path); !run.empty()) growing_runs.insert(std::move(run));
  }
  std::vector<std::string> whole;
  for (const FoundTrace& trace : found) {
    if (growing.contains(trace.path)) continue;
    if (growing_runs.contains(run_folder_of(trace.path))) {
      growing.emplace(trace.path, trace);
    } else if (known_.add(trace.path)) {
      whole.push_back(trace.path);
    }
  }
  growing_ = std::move(growing);
  return whole;
}

Result<void> follow(TraceWatch& watch, const WatchSteps& steps) {
  do {
    std::vector<std::string> whole = watch.take(steps.look(watch.known()), steps.now_ns());
    if (whole.empty()) continue;
    RETURN_IF_ERROR(steps.work(std::move(whole)));
  } while (steps.wait());
  return {};
}

}  // namespace doctor
