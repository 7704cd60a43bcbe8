#include "batch/trace_list.h"

#include <system_error>

#include "base/try.h"
#include "command_line/option_values.h"
#include "fleet/trace_row.h"
#include "io/file_io.h"

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

namespace fs = std::filesystem;

constexpr std::size_t kMostFolders = 16;

/// The path without links; empty where there is nothing.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path canonical = fs::canonical(path, error);
  return error ? fs::path() : canonical;
}

/// The deepest folder that both are in.
fs::path common_folder(const fs::path& one, const fs::path& other) {
  fs::path common;
  const auto [end, ignored] = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  for (auto part = one.begin(); part != end; ++part) common /= *part;
  return common;
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
    walk_.emplace(**path, &passed_over_);
  }
}

std::optional<Result<std::string>> TraceList::next() {
  while (std::optional<Result<std::string>> file = next_file()) {
    if (!*file || (shard_.has(**file) && seen_.add(**file))) return file;
  }
  return std::nullopt;
}

void TraceFolders::add_named(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    take_folder(resolved(path).string());
  } else {
    take(path);
  }
}

bool TraceFolders::take(const std::string& trace) {
  if (trace == "-") return true;
  const fs::path path = trace;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  const bool is_link = fs::is_symlink(path, error);
  if (!is_link && folder.string() == last_) return true;
  last_ = folder.string();
  // What lies beside a link is read, too.
  const bool is_known = take_folder(resolved(folder).string());
  return (!is_link || take_folder(resolved(path).parent_path().string())) && is_known;
}

bool TraceFolders::knows(const std::string& trace) const {
  const fs::path path = resolved(trace);
  return !path.empty() && knows_folder(path.parent_path().string());
}

bool TraceFolders::knows_folder(const std::string& folder) const {
  for (fs::path above = folder;; above = above.parent_path()) {
    if (folders_.contains(above.string())) return true;
    if (!above.has_relative_path()) return false;
  }
}

bool TraceFolders::take_folder(const std::string& folder) {
  if (folder.empty()) return true;  // reading it will tell what is wrong
  if (knows_folder(folder)) return true;
  folders_.insert(folder);
  if (folders_.size() <= kMostFolders) return false;
  fs::path common = folder;
  for (const std::string& known : folders_) common = common_folder(common, known);
  folders_ = {common.string()};
  return false;
}

std::vector<FoundTrace> look_for_traces(const std::string& directory, const PathSet& known,
                                        const std::function<void(const Error&)>& tell) {
  std::vector<FoundTrace> found;
  struct stat folder {};
  if (::stat(directory.c_str(), &folder) != 0) tell(path_error(directory, errno));  // it may come back
  PassedOver others;
  TraceWalk walk(directory, &others);
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

}  // namespace doctor
