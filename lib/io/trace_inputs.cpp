#include "io/trace_inputs.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <system_error>
#include <tuple>

#include "io/file_io.h"
#include "io/trace_folder.h"
#include "text/escape.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestFolder = 16;           // below the log directory
constexpr std::size_t kMostNamesListed = 5;  // in a hint

/// The path from the root, without a slash at its end, so that its last names can be compared.
fs::path full_path(const fs::path& path) {
  std::error_code error;
  fs::path full = fs::absolute(path, error).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

/// What scripts/record calls its recordings: "run_007".
bool is_recording_name(std::string_view name) {
  constexpr std::string_view kStart = "run_";
  return name.size() > kStart.size() && name.starts_with(kStart) &&
         name.find_first_not_of("0123456789", kStart.size()) == std::string_view::npos;
}

bool is_in_log_directory(const fs::path& full) {
  const fs::path parent = full.parent_path();
  return parent.filename() == "profile" && parent.parent_path().filename() == "plugins";
}

bool is_run_folder(const fs::path& full) {
  return is_in_log_directory(full) || is_recording_name(full.filename().string());
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
  std::vector<std::string> other_folders = {};  ///< with traces, but not where a run of a log directory is
};

struct PendingFolder {
  fs::path path;  // as the user would write it
  fs::path full;
  int depth = 0;
};

/// Every folder is visited once. Symbolic links wait until all else was seen, so that a run keeps its own name.
Search search_runs(const fs::path& log_directory) {
  Search search;
  EnteredFolders entered;
  std::vector<PendingFolder> pending = {{log_directory, full_path(log_directory), 0}};
  std::vector<PendingFolder> linked;
  while (!pending.empty() || !linked.empty()) {
    std::vector<PendingFolder>& source = pending.empty() ? linked : pending;
    const PendingFolder here = std::move(source.back());
    source.pop_back();
    if (!entered.enter(here.path)) continue;
    const Result<TraceFolder> folder = read_trace_folder(here.path);
    if (!folder) {
      ++search.unreadable_folders;
      continue;
    }
    if (!folder->traces.empty() && is_run_folder(here.full)) {
      Run run{here.full.filename().string(), here.path.string(), most_complete_files(here.path, folder->traces)};
      const std::int64_t change = newest_change(run.files);
      search.found.push_back({std::move(run), change});
    } else if (!folder->traces.empty()) {
      search.other_folders.push_back(here.path.string());
    }
    if (here.depth == kDeepestFolder) continue;
    for (const std::string& name : folder->folders) {
      pending.push_back({here.path / name, here.full / name, here.depth + 1});
    }
    for (const std::string& name : folder->linked_folders) {
      linked.push_back({here.path / name, here.full / name, here.depth + 1});
    }
  }
  std::sort(search.other_folders.begin(), search.other_folders.end());
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

std::string contents(const TraceFolder& folder) {
  std::vector<std::string> names = folder.other_files;
  names.insert(names.end(), folder.broken_links.begin(), folder.broken_links.end());
  for (const auto* folders : {&folder.folders, &folder.linked_folders}) {
    for (const std::string& name : *folders) names.push_back(name + "/");
  }
  return names.empty() ? "it is empty" : "it holds " + listed(names);
}

Error no_traces(const std::string& directory, const TraceFolder& folder, const Search& search) {
  if (!search.other_folders.empty()) {
    return {"holds no run of its own, but trace files in " + listed(search.other_folders), directory, std::nullopt,
            "name one of these folders, or diagnose all traces, each by itself: tfdata-doctor batch " +
                shell_word(directory)};
  }
  std::string what = std::string(kNoTraceFiles) + ", here or in plugins/profile/ below: " + contents(folder);
  if (search.unreadable_folders > 0) {
    what += "; folders that could not be read: " + std::to_string(search.unreadable_folders);
  }
  return {std::move(what), directory, std::nullopt, "record one with tf.profiler.experimental.start(logdir)"};
}

/// The folders that hold recordings of scripts/record, where there are several: each is a version of its own.
std::vector<std::string> folders_of_versions(const std::vector<FoundRun>& found) {
  std::set<std::string> folders;
  for (const FoundRun& one : found) {
    const fs::path full = full_path(one.run.directory);
    if (!is_in_log_directory(full)) folders.insert(fs::path(one.run.directory).parent_path().string());
  }
  return folders.size() > 1 ? std::vector<std::string>(folders.begin(), folders.end()) : std::vector<std::string>();
}

Error several_versions(const std::string& directory, const std::vector<std::string>& folders) {
  return {"holds recordings of several versions: " + listed(folders), directory, std::nullopt,
          "name one of them, or compare two: tfdata-doctor compare " + shell_word(folders[0]) + " -- " +
              shell_word(folders[1])};
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
  const Result<TraceFolder> folder = read_trace_folder(directory);
  if (!folder) return Unexpected(folder.error());
  const std::string own_name = full_path(directory).filename().string();
  const bool holds_run = !folder->traces.empty();
  if (holds_run && (!run || own_name.starts_with(*run))) return most_complete_files(directory, folder->traces);

  const Search search = search_runs(directory);
  if (search.found.empty() && holds_run) {
    return fail("holds no run '" + *run + "'", directory, "it is itself the run '" + own_name + "'");
  }
  if (search.found.empty()) return Unexpected(no_traces(directory, *folder, search));
  if (const auto versions = folders_of_versions(search.found); !versions.empty()) {
    return Unexpected(several_versions(directory, versions));
  }
  if (!run) return search.found.front().run.files;
  return choose_run(directory, *run, search.found);
}

Result<std::vector<std::string>> resolve_path(const std::string& path, const std::optional<std::string>& run) {
  if (path == "-") return std::vector<std::string>{path};
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return Unexpected(path_error(path, errno));
  if (path.ends_with(".py")) {
    return fail("is a program, not a trace", path, "record it with python -m tfdata_doctor " + shell_word(path));
  }
  if (!S_ISDIR(status.st_mode)) return std::vector<std::string>{path};
  return resolve_directory(path, run);
}

void add_all_below(const std::string& directory, SeparateInputs& inputs) {
  const std::size_t before = inputs.files.size() + inputs.unreadable.size();
  TraceWalk walk(directory);
  while (std::optional<Result<std::string>> found = walk.next()) {
    if (*found) {
      inputs.files.push_back(**found);
    } else {
      inputs.unreadable.push_back(std::move(found->error()));
    }
  }
  if (inputs.files.size() + inputs.unreadable.size() > before) return;
  const Result<TraceFolder> folder = read_trace_folder(directory);
  inputs.unreadable.push_back(folder ? no_traces(directory, *folder, {}) : folder.error());
}

std::vector<Run> recordings_below(const fs::path& directory, const TraceFolder& folder) {
  std::vector<Run> recordings;
  for (const std::string& file : most_complete_files(directory, folder.traces)) {
    recordings.push_back({fs::path(file).filename().string(), file, {file}});
  }
  if (!recordings.empty()) return recordings;
  for (const std::string& name : folder.folders) {
    const Result<TraceFolder> inside = read_trace_folder(directory / name);
    if (!inside || inside->traces.empty()) continue;
    recordings.push_back({name, (directory / name).string(), most_complete_files(directory / name, inside->traces)});
  }
  return recordings;
}

Result<std::vector<Run>> list_recordings_in(const std::string& directory) {
  const Result<TraceFolder> folder = read_trace_folder(directory);
  if (!folder) return Unexpected(folder.error());
  const fs::path full = full_path(directory);
  if (is_run_folder(full) && !folder->traces.empty()) {
    return std::vector<Run>{{full.filename().string(), directory, most_complete_files(directory, folder->traces)}};
  }
  std::vector<Run> recordings = recordings_below(directory, *folder);
  if (!recordings.empty()) return recordings;
  Search search = search_runs(directory);
  if (search.found.empty()) return Unexpected(no_traces(directory, *folder, search));
  if (const auto versions = folders_of_versions(search.found); !versions.empty()) {
    return Unexpected(several_versions(directory, versions));
  }
  for (FoundRun& found : search.found) recordings.push_back(std::move(found.run));
  std::sort(recordings.begin(), recordings.end(), [](const Run& a, const Run& b) { return a.directory < b.directory; });
  return recordings;
}

}  // namespace

Result<std::vector<Run>> list_runs(const std::string& log_directory) {
  if (const Result<TraceFolder> folder = read_trace_folder(log_directory); !folder) return Unexpected(folder.error());
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
  return without_repeats(std::move(files));
}

SeparateInputs resolve_separate_inputs(const std::vector<std::string>& paths) {
  SeparateInputs inputs;
  for (const std::string& path : paths) {
    struct stat status {};
    if (path == "-" || ::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
      Result<std::vector<std::string>> itself = resolve_path(path, std::nullopt);
      if (itself) {
        inputs.files.push_back(path);
      } else {
        inputs.unreadable.push_back(std::move(itself.error()));
      }
      continue;
    }
    add_all_below(path, inputs);
  }
  inputs.files = without_repeats(std::move(inputs.files));
  return inputs;
}

}  // namespace doctor
