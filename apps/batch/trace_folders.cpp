#include <algorithm>
#include <filesystem>
#include <system_error>

#include "batch/trace_list.h"

namespace doctor {
namespace {

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

}  // namespace doctor
