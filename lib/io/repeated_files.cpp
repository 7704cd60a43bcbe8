#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>

#include "io/trace_folder.h"
#include "io/trace_inputs.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

/// Nothing for what cannot be examined or is not a regular file: a pipe can be read once only.
std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (path == "-" || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status;
}

/// Both are of one size.
bool hold_the_same(const std::string& path, const std::string& other) {
  std::ifstream first(path, std::ios::binary);
  std::ifstream second(other, std::ios::binary);
  char bytes[1 << 14];
  char others[1 << 14];
  while (first && second) {
    first.read(bytes, sizeof(bytes));
    second.read(others, sizeof(others));
    const std::streamsize count = first.gcount();
    if (count != second.gcount() || std::memcmp(bytes, others, static_cast<std::size_t>(count)) != 0) return false;
  }
  return first.eof() && second.eof();
}

/// Of several names the shortest stays.
std::vector<std::string> without_copies(std::vector<std::string> files) {
  std::stable_sort(files.begin(), files.end(),
                   [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  std::vector<std::string> kept;
  std::set<std::pair<dev_t, ino_t>> seen;
  std::map<off_t, std::vector<std::string>> by_size;
  for (const std::string& file : files) {
    const std::optional<struct stat> status = status_of(file);
    if (status) {
      if (!seen.emplace(status->st_dev, status->st_ino).second) continue;
      std::vector<std::string>& alike = by_size[status->st_size];
      const auto is_copy = [&](const std::string& other) { return hold_the_same(file, other); };
      // Empty files hold nothing that could count twice, and each deserves its error.
      if (status->st_size > 0 && std::any_of(alike.begin(), alike.end(), is_copy)) continue;
      alike.push_back(file);
    }
    kept.push_back(file);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

/// Of the files of one host in one folder the richest.
std::vector<std::string> without_poorer_formats(const std::vector<std::string>& files) {
  std::map<std::pair<std::string, std::string>, int> richest;
  const auto look_up = [&](const std::string& file) -> std::optional<std::pair<int*, int>> {
    const fs::path path(file);
    const std::optional<NamedTrace> trace = as_trace_file(path.filename().string());
    if (!trace || !status_of(file)) return std::nullopt;
    const auto [entry, is_new] = richest.emplace(std::pair(path.parent_path().string(), trace->host), 0);
    return std::pair(&entry->second, trace->richness);
  };
  for (const std::string& file : files) {
    if (const auto found = look_up(file)) *found->first = std::max(*found->first, found->second);
  }
  std::vector<std::string> kept;
  for (const std::string& file : files) {
    const auto found = look_up(file);
    if (!found || *found->first == found->second) kept.push_back(file);
  }
  return kept;
}

}  // namespace

std::vector<std::string> without_repeats(std::vector<std::string> files) {
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return without_poorer_formats(without_copies(files));
}

}  // namespace doctor
