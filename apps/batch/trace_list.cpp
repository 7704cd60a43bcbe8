#include "batch/trace_list.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/hash.h"
#include "base/try.h"
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

/// Sixteen times what Linux opens: whatever is longer is not a path, and may have no end.
constexpr std::size_t kLongestPath = std::size_t{1} << 16;

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
  RETURN_IF_ERROR(check_that_it_ends(*source.files_from));
  errno = 0;
  list->more_paths_.open(*source.files_from == "-" ? "/dev/stdin" : *source.files_from);
  if (!list->more_paths_.is_open()) return Unexpected(path_error(*source.files_from, errno));
  list->files_from_ = *source.files_from;
  list->line_.resize(kLongestPath + 1);
  return list;
}

std::optional<Result<std::string>> TraceList::next_path() {
  if (!paths_.empty()) {
    std::string path = std::move(paths_.front());
    paths_.pop_front();
    return Result<std::string>(std::move(path));
  }
  while (more_paths_.is_open() && more_paths_.getline(line_.data(), std::ssize(line_), path_end_)) {
    const auto length = static_cast<std::size_t>(more_paths_.gcount()) - (more_paths_.eof() ? 0 : 1);
    if (length > 0) return Result<std::string>(line_.substr(0, length));
  }
  if (!more_paths_.is_open() || more_paths_.eof()) return std::nullopt;
  more_paths_.close();
  return fail("is not a list of paths: one has more than " + std::to_string(kLongestPath) + " bytes", files_from_);
}

std::optional<Result<std::string>> TraceList::next_file() {
  while (true) {
    if (walk_) {
      if (std::optional<Result<std::string>> found = walk_->next()) return found;
      walk_.reset();
    }
    std::optional<Result<std::string>> path = next_path();
    if (!path || !*path || !is_directory(**path)) return path;
    walk_.emplace(**path);
  }
}

std::optional<Result<std::string>> TraceList::next() {
  while (std::optional<Result<std::string>> file = next_file()) {
    if (!*file || (shard_.has(**file) && seen_.add(**file))) return file;
  }
  return std::nullopt;
}

}  // namespace doctor
