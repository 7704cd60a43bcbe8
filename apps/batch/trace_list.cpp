#include "batch/trace_list.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/hash.h"
#include "command_line/option_values.h"
#include "io/path_error.h"

namespace doctor {
namespace {

/// The low bits of FNV-1a follow the low bits of the text: paths that are numbered in steps of two would all be in one
/// half. This mixes all bits into all others (the last step of MurmurHash3, Appleby 2011).
std::uint64_t mixed(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
  return hash ^ (hash >> 33);
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

bool Shard::has(std::string_view path) const {
  return mixed(fnv1a_64(path)) % count == index - 1;
}

std::optional<Shard> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<std::size_t> index = parse_number(text.substr(0, slash));
  const std::optional<std::size_t> count = parse_number(text.substr(slash + 1));
  if (!index || !count || *index < 1 || *index > *count) return std::nullopt;
  return Shard{*index, *count};
}

Result<std::unique_ptr<TraceList>> TraceList::open(const Source& source) {
  std::unique_ptr<TraceList> list(new TraceList(source));
  if (!source.files_from) return list;
  if (const Result<void> ends = check_that_it_ends(*source.files_from); !ends) return Unexpected(ends.error());
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
  while (more_paths_.is_open() && std::getline(more_paths_, line, path_end_)) {
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
