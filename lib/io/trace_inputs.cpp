#include "io/trace_inputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "io/path_error.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestFolder = 16;           // below the log directory
constexpr std::size_t kMostNamesListed = 5;  // in a hint

struct TraceSuffix {
  std::string_view text;
  int richness;  ///< of two files of one host the one with the higher richness is read
};

// XSpace holds more than the JSON made from it; JSON rewritten by xprof lacks the producer and consumer events.
// A file that is not compressed comes first because it is read faster. A longer suffix stands before its own ending.
constexpr std::array<TraceSuffix, 6> kTraceSuffixes = {{
    {".xplane.pb", 6},
    {".xplane.pb.gz", 5},
    {".xprof.trace.json", 2},
    {".xprof.trace.json.gz", 1},
    {".trace.json", 4},
    {".trace.json.gz", 3},
}};

struct TraceFile {
  std::string name;
  std::string host;
  int richness = 0;
};

/// TF1 writes one timeline a step: each is an input of its own, so its own name takes the place of the host.
std::optional<TraceFile> as_timeline(std::string_view name) {
  if (!name.starts_with("timeline_")) return std::nullopt;
  const bool is_compressed = name.ends_with(".json.gz");
  if (!is_compressed && !name.ends_with(".json")) return std::nullopt;
  const std::string_view stem = is_compressed ? name.substr(0, name.size() - std::string_view(".gz").size()) : name;
  return TraceFile{std::string(name), std::string(stem), is_compressed ? 1 : 2};
}

std::optional<TraceFile> as_trace_file(std::string_view name) {
  if (name.starts_with("._")) return std::nullopt;  // what macOS adds to copies; holds no trace
  for (const TraceSuffix& suffix : kTraceSuffixes) {
    if (!name.ends_with(suffix.text)) continue;
    return TraceFile{std::string(name), std::string(name.substr(0, name.size() - suffix.text.size())), suffix.richness};
  }
  return as_timeline(name);
}

struct Folder {
  std::vector<TraceFile> traces;
  std::vector<std::string> folders;         // names
  std::vector<std::string> linked_folders;  // names of symbolic links to folders
  std::vector<std::string> other_files;     // names
};

Result<Folder> read_folder(const fs::path& path) {
  Folder folder;
  std::error_code error;
  fs::directory_iterator entry(path, error);
  while (!error && entry != fs::directory_iterator()) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;  // an entry that vanished meanwhile is neither a folder nor a file
    if (entry->is_directory(ignored)) {
      (entry->is_symlink(ignored) ? folder.linked_folders : folder.folders).push_back(name);
    } else if (std::optional<TraceFile> trace = as_trace_file(name); trace && entry->is_regular_file(ignored)) {
      folder.traces.push_back(std::move(*trace));
    } else {
      folder.other_files.push_back(name);
    }
    entry.increment(error);
  }
  if (error) return Unexpected(path_error(path.string(), error.value()));
  for (auto* names : {&folder.folders, &folder.linked_folders, &folder.other_files}) {
    std::sort(names->begin(), names->end());
  }
  return folder;
}

/// Paths of the richest file of each host, sorted.
std::vector<std::string> richest_files(const fs::path& directory, const std::vector<TraceFile>& traces) {
  std::map<std::string_view, const TraceFile*> richest;
  for (const TraceFile& trace : traces) {
    const TraceFile*& kept = richest[trace.host];
    if (kept == nullptr || trace.richness > kept->richness) kept = &trace;
  }
  std::vector<std::string> paths;
  paths.reserve(richest.size());
  for (const auto& [host, trace] : richest) paths.push_back((directory / trace->name).string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The path from the root, without a slash at its end, so that its last names can be compared.
fs::path full_path(const fs::path& path) {
  std::error_code error;
  fs::path full = fs::absolute(path, error).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

bool is_run_folder(const fs::path& full) {
  const fs::path parent = full.parent_path();
  return parent.filename() == "profile" && parent.parent_path().filename() == "plugins";
}

std::int64_t newest_change(const std::vector<std::string>& files) {
  std::int64_t newest = 0;
  for (const std::string& file : files) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) continue;
    newest = std::max(newest, std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec);
  }
  return newest;
}

struct FoundRun {
  Run run;
  std::int64_t newest_change = 0;  // nanoseconds since 1970
};

struct Search {
  std::vector<FoundRun> found;
  std::size_t unreadable_folders = 0;
};

struct PendingFolder {
  fs::path path;  // as the user would write it
  fs::path full;
  int depth = 0;
};

/// Whether this is the first visit, by device and inode: a symbolic link may lead back up.
bool enter(const fs::path& path, std::set<std::pair<dev_t, ino_t>>& visited) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && visited.emplace(status.st_dev, status.st_ino).second;
}

/// Every folder is visited once. Symbolic links wait until all else was seen, so that a run keeps its own name.
Search search_runs(const fs::path& log_directory) {
  Search search;
  std::set<std::pair<dev_t, ino_t>> visited;
  std::vector<PendingFolder> pending = {{log_directory, full_path(log_directory), 0}};
  std::vector<PendingFolder> linked;
  while (!pending.empty() || !linked.empty()) {
    std::vector<PendingFolder>& source = pending.empty() ? linked : pending;
    const PendingFolder here = std::move(source.back());
    source.pop_back();
    if (!enter(here.path, visited)) continue;
    const Result<Folder> folder = read_folder(here.path);
    if (!folder) {
      ++search.unreadable_folders;
      continue;
    }
    if (!folder->traces.empty() && is_run_folder(here.full)) {
      Run run{here.full.filename().string(), here.path.string(), richest_files(here.path, folder->traces)};
      const std::int64_t change = newest_change(run.files);
      search.found.push_back({std::move(run), change});
    }
    if (here.depth == kDeepestFolder) continue;
    for (const std::string& name : folder->folders) {
      pending.push_back({here.path / name, here.full / name, here.depth + 1});
    }
    for (const std::string& name : folder->linked_folders) {
      linked.push_back({here.path / name, here.full / name, here.depth + 1});
    }
  }
  std::sort(search.found.begin(), search.found.end(), [](const FoundRun& left, const FoundRun& right) {
    return std::tie(right.newest_change, right.run.name, right.run.directory) <
           std::tie(left.newest_change, left.run.name, left.run.directory);
  });
  return search;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNamesListed; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNamesListed) text += " and " + std::to_string(names.size() - kMostNamesListed) + " more";
  return text;
}

std::string contents(const Folder& folder) {
  std::vector<std::string> names = folder.other_files;
  for (const auto* folders : {&folder.folders, &folder.linked_folders}) {
    for (const std::string& name : *folders) names.push_back(name + "/");
  }
  return names.empty() ? "it is empty" : "it holds " + listed(names);
}

Error no_traces(const std::string& directory, const Folder& folder, const Search& search) {
  std::string what =
      "holds no trace files (*.xplane.pb, *.trace.json[.gz], timeline_*.json), here or in plugins/profile/ below: " +
      contents(folder);
  if (search.unreadable_folders > 0) {
    what += "; folders that could not be read: " + std::to_string(search.unreadable_folders);
  }
  return {std::move(what), directory, std::nullopt, "record one with tf.profiler.experimental.start(logdir)"};
}

Result<std::vector<std::string>> choose_run(const std::string& directory, const std::string& wanted,
                                            const std::vector<FoundRun>& found) {
  std::vector<const Run*> exact;
  std::vector<const Run*> beginning;
  std::vector<std::string> names;
  for (const FoundRun& candidate : found) {
    if (candidate.run.name == wanted) exact.push_back(&candidate.run);
    if (candidate.run.name.starts_with(wanted)) beginning.push_back(&candidate.run);
    names.push_back(candidate.run.name);
  }
  const std::vector<const Run*>& matches = exact.empty() ? beginning : exact;
  if (matches.size() == 1) return matches.front()->files;
  if (matches.empty()) return fail("holds no run '" + wanted + "'", directory, "its newest runs: " + listed(names));
  std::vector<std::string> directories;
  directories.reserve(matches.size());
  for (const Run* match : matches) directories.push_back(match->directory);
  return fail("'" + wanted + "' names " + std::to_string(matches.size()) + " runs", directory,
              "name one of their directories: " + listed(directories));
}

Result<std::vector<std::string>> resolve_directory(const std::string& directory,
                                                   const std::optional<std::string>& run) {
  const Result<Folder> folder = read_folder(directory);
  if (!folder) return Unexpected(folder.error());
  const std::string own_name = full_path(directory).filename().string();
  const bool holds_run = !folder->traces.empty();
  if (holds_run && (!run || own_name.starts_with(*run))) return richest_files(directory, folder->traces);

  const Search search = search_runs(directory);
  if (search.found.empty() && holds_run) {
    return fail("holds no run '" + *run + "'", directory, "it is itself the run '" + own_name + "'");
  }
  if (search.found.empty()) return Unexpected(no_traces(directory, *folder, search));
  if (!run) return search.found.front().run.files;
  return choose_run(directory, *run, search.found);
}

Result<std::vector<std::string>> resolve_path(const std::string& path, const std::optional<std::string>& run) {
  if (path == "-") return std::vector<std::string>{path};
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return Unexpected(path_error(path, errno));
  if (!S_ISDIR(status.st_mode)) return std::vector<std::string>{path};
  return resolve_directory(path, run);
}

std::vector<Run> recordings_below(const fs::path& directory, const Folder& folder) {
  std::vector<Run> recordings;
  for (const std::string& file : richest_files(directory, folder.traces)) {
    recordings.push_back({fs::path(file).filename().string(), file, {file}});
  }
  if (!recordings.empty()) return recordings;
  for (const std::string& name : folder.folders) {
    const Result<Folder> inside = read_folder(directory / name);
    if (!inside || inside->traces.empty()) continue;
    recordings.push_back({name, (directory / name).string(), richest_files(directory / name, inside->traces)});
  }
  return recordings;
}

Result<std::vector<Run>> list_recordings_in(const std::string& directory) {
  const Result<Folder> folder = read_folder(directory);
  if (!folder) return Unexpected(folder.error());
  const fs::path full = full_path(directory);
  if (is_run_folder(full) && !folder->traces.empty()) {
    return std::vector<Run>{{full.filename().string(), directory, richest_files(directory, folder->traces)}};
  }
  std::vector<Run> recordings = recordings_below(directory, *folder);
  if (!recordings.empty()) return recordings;
  Search search = search_runs(directory);
  if (search.found.empty()) return Unexpected(no_traces(directory, *folder, search));
  for (FoundRun& found : search.found) recordings.push_back(std::move(found.run));
  std::sort(recordings.begin(), recordings.end(), [](const Run& a, const Run& b) { return a.directory < b.directory; });
  return recordings;
}

/// Leaves the first mention of each file, under whatever name: read twice, its calls would count twice.
std::vector<std::string> without_repeats(const std::vector<std::string>& files) {
  std::vector<std::string> unique;
  std::set<std::string> names;
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const std::string& file : files) {
    struct stat status {};
    const bool is_known_file = file != "-" && ::stat(file.c_str(), &status) == 0;
    const bool is_first = is_known_file ? seen.emplace(status.st_dev, status.st_ino).second : names.insert(file).second;
    if (is_first) unique.push_back(file);
  }
  return unique;
}

}  // namespace

Result<std::vector<Run>> list_runs(const std::string& log_directory) {
  if (const Result<Folder> folder = read_folder(log_directory); !folder) return Unexpected(folder.error());
  std::vector<Run> runs;
  for (FoundRun& found : search_runs(log_directory).found) runs.push_back(std::move(found.run));
  return runs;
}

Result<std::vector<Run>> list_recordings(const std::string& path) {
  struct stat status {};
  if (path != "-" && ::stat(path.c_str(), &status) != 0) return Unexpected(path_error(path, errno));
  if (path != "-" && S_ISDIR(status.st_mode)) return list_recordings_in(path);
  return std::vector<Run>{{path, path, {path}}};
}

Result<std::vector<std::string>> resolve_inputs(const std::vector<std::string>& paths,
                                                const std::optional<std::string>& run) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    Result<std::vector<std::string>> found = resolve_path(path, run);
    if (!found) return found;
    files.insert(files.end(), found->begin(), found->end());
  }
  return without_repeats(files);
}

}  // namespace doctor
