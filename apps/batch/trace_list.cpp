#include "batch/trace_list.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "io/path_error.h"

namespace doctor {
namespace {

bool is_directory(const std::string& path) {
  struct stat status {};
  return path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

Result<std::unique_ptr<TraceList>> TraceList::open(const Source& source) {
  std::unique_ptr<TraceList> list(new TraceList(source));
  if (!source.files_from) return list;
  errno = 0;
  list->more_paths_.open(*source.files_from == "-" ? "/dev/stdin" : *source.files_from);
  if (!list->more_paths_.is_open()) return Unexpected(path_error(*source.files_from, errno));
  return list;
}

std::optional<std::string> TraceList::next_path() {
  if (!paths_.empty()) {
    std::string path = std::move(paths_.front());
    paths_.pop_front();
    return path;
  }
  std::string line;
  while (more_paths_.is_open() && std::getline(more_paths_, line)) {
    if (!line.empty()) return line;
  }
  return std::nullopt;
}

std::optional<Result<std::string>> TraceList::next_file() {
  while (true) {
    if (walk_) {
      if (std::optional<Result<std::string>> found = walk_->next()) return found;
      walk_.reset();
    }
    std::optional<std::string> path = next_path();
    if (!path) return std::nullopt;
    if (!is_directory(*path)) return Result<std::string>(std::move(*path));
    walk_.emplace(*path);
  }
}

std::optional<Result<std::string>> TraceList::next() {
  while (std::optional<Result<std::string>> file = next_file()) {
    if (!*file || (shard_.has(**file) && seen_.add(**file))) return file;
  }
  return std::nullopt;
}

}  // namespace doctor
