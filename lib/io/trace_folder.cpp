#include "io/trace_folder.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <map>
#include <memory>
#include <system_error>

#include "io/file_io.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

struct TraceSuffix {
  std::string_view text;
  int richness;
};

constexpr std::string_view kXSpaceSuffix = ".xplane.pb";

// XSpace holds more than the JSON made from it; JSON rewritten by xprof lacks the producer and consumer events.
// A file that is not compressed comes first because it is read faster. A longer suffix stands before its own ending.
constexpr std::array<TraceSuffix, 6> kTraceSuffixes = {{
    {kXSpaceSuffix, 6},
    {".xplane.pb.gz", 5},
    {".xprof.trace.json", 2},
    {".xprof.trace.json.gz", 1},
    {".trace.json", 4},
    {".trace.json.gz", 3},
}};

/// Of a folder with more entries nothing is listed: it may have a million, and this is asked for each of them.
constexpr std::size_t kMostEntriesBeside = 64;

/// TF1 writes one timeline a step: each is an input of its own, so its own name takes the place of the host. The manual
/// calls them timeline_3.json, ProfilerHook timeline-3.json.
std::optional<NamedTrace> as_timeline(std::string_view name) {
  if (!name.starts_with("timeline_") && !name.starts_with("timeline-")) return std::nullopt;
  const bool is_compressed = name.ends_with(".json.gz");
  if (!is_compressed && !name.ends_with(".json")) return std::nullopt;
  const std::string_view stem = is_compressed ? name.substr(0, name.size() - std::string_view(".gz").size()) : name;
  return NamedTrace{std::string(name), std::string(stem), is_compressed ? 1 : 2};
}

/// Calls `visit(name)` for what is in a folder until it returns false. Whether all was visited: not of a folder that
/// cannot be read. By the functions of POSIX: a path for each name takes twenty times as long.
template <typename Visit>
bool visit_names(const char* folder, Visit visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder), ::closedir);
  if (open == nullptr) return false;
  errno = 0;
  while (const dirent* const entry = ::readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !visit(name)) return false;
  }
  return errno == 0;
}

/// What is in a folder; nullopt of one with more entries than that, or that cannot be read.
std::optional<std::vector<std::string>> few_names_in(const char* folder) {
  std::vector<std::string> names;
  const bool are_all = visit_names(folder, [&](std::string_view name) {
    if (names.size() == kMostEntriesBeside) return false;
    names.emplace_back(name);
    return true;
  });
  return are_all ? std::optional(std::move(names)) : std::nullopt;
}

/// Whether one of the names in a folder is of a recording by JAX's profiler; unknown of more than `most` names.
LargeFolder::Pairs look_for_pairs(const char* folder, std::size_t most) {
  std::size_t count = 0;
  bool is_found = false;
  const bool are_all = visit_names(folder, [&](std::string_view name) {
    const std::optional<NamedTrace> trace = as_trace_file(name);
    is_found = trace && trace->host.ends_with(kJaxRecording);
    return !is_found && ++count <= most;
  });
  if (is_found) return LargeFolder::Pairs::some;
  return are_all ? LargeFolder::Pairs::none : LargeFolder::Pairs::unknown;
}

/// Whether a change would show: within some milliseconds of one, another leaves the time of the folder as it is.
bool is_settled(const struct stat& status) {
  constexpr std::chrono::seconds kCoarsestClock{2};  // of FAT
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::seconds(status.st_mtim.tv_sec) + kCoarsestClock < now;
}

/// Whether a file in the folder may have another recording of its host beside it. To try the names of one takes longer
/// than to read the names of some entries, so all are read once so many files were asked for that it pays, whether the
/// folder changes all the time or has a million entries.
bool may_hold_pairs(LargeFolder& large, const char* opened, const struct stat& status) {
  constexpr std::uint32_t kFewFiles = 16;
  constexpr std::size_t kNamesOfFile = 64;
  if (large.pairs != LargeFolder::Pairs::unknown) return large.pairs == LargeFolder::Pairs::some;
  const std::uint32_t asked = ++large.asked;
  if (asked >= kFewFiles && std::has_single_bit(asked) && is_settled(status)) {
    large.pairs = look_for_pairs(opened, asked * kNamesOfFile);
  }
  return large.pairs != LargeFolder::Pairs::none;
}

std::vector<NamedTrace> traces_of_other_hosts(const std::vector<std::string>& names, std::string_view own_host) {
  std::vector<NamedTrace> traces;
  for (const std::string& name : names) {
    std::optional<NamedTrace> trace = as_trace_file(name);
    if (trace && trace->host != own_host) traces.push_back(std::move(*trace));
  }
  return traces;
}

bool is_empty_file(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_size == 0;
}

/// Not of what cannot be looked at.
bool is_empty_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && is_empty_file(status);
}

/// The richest file of a host that is not empty; empty if there is none. `stem`: its folder and the host. The names are
/// tried: nothing is listed.
std::string richest_file(const std::string& stem) {
  std::string richest;
  int richness = 0;
  for (const TraceSuffix& suffix : kTraceSuffixes) {
    if (suffix.richness < richness) continue;
    std::string name = stem + std::string(suffix.text);
    struct stat status {};
    if (::stat(name.c_str(), &status) != 0 || is_empty_file(status)) continue;  // what cannot be looked at is not there
    richest = std::move(name);
    richness = suffix.richness;
  }
  return richest;
}

/// The file, and the richest of those in its folder that the other profiler recorded of its host, sorted.
std::vector<std::string> recordings_of_host(const std::string& file, const std::string& folder, std::string_view host) {
  std::string other = folder + std::string(without_recorder(host));
  if (without_recorder(host) == host) other += kJaxRecording;
  const std::string richest = richest_file(other);
  if (richest.empty()) return {file};
  return richest < file ? std::vector<std::string>{richest, file} : std::vector<std::string>{file, richest};
}

/// The first name is the next one to be entered.
void add_folders(const std::filesystem::path& here, const std::vector<std::string>& names,
                 std::vector<std::filesystem::path>& pending) {
  std::for_each(names.rbegin(), names.rend(), [&](const std::string& name) { pending.push_back(here / name); });
}

}  // namespace

bool LargeFolder::is(std::string_view folder, const struct stat& status) const {
  return path == folder && changed_s == status.st_mtim.tv_sec && changed_ns == status.st_mtim.tv_nsec;
}

std::optional<NamedTrace> as_trace_file(std::string_view name) {
  if (name.starts_with("._")) return std::nullopt;  // what macOS adds to copies; holds no trace
  for (const TraceSuffix& suffix : kTraceSuffixes) {
    if (!name.ends_with(suffix.text)) continue;
    return NamedTrace{std::string(name), std::string(name.substr(0, name.size() - suffix.text.size())),
                      suffix.richness};
  }
  return as_timeline(name);
}

Result<TraceFolder> read_trace_folder(const fs::path& path) {
  TraceFolder folder;
  std::error_code error;
  fs::directory_iterator entry(path, error);
  while (!error && entry != fs::directory_iterator()) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;  // an entry that vanished meanwhile is neither a folder nor a file
    if (entry->is_directory(ignored)) {
      (entry->is_symlink(ignored) ? folder.linked_folders : folder.folders).push_back(name);
    } else if (std::optional<NamedTrace> trace = as_trace_file(name); trace && entry->is_regular_file(ignored)) {
      folder.traces.push_back(std::move(*trace));
    } else if (trace && entry->is_symlink(ignored) && !entry->exists(ignored)) {
      folder.broken_links.push_back(name);
    } else {
      folder.other_files.push_back(name);
    }
    entry.increment(error);
  }
  if (error) return Unexpected(path_error(path.string(), error.value()));
  for (auto* names : {&folder.folders, &folder.linked_folders, &folder.broken_links, &folder.other_files}) {
    std::sort(names->begin(), names->end());
  }
  return folder;
}

std::vector<std::string> most_complete_files(const fs::path& directory, const std::vector<NamedTrace>& traces) {
  std::map<std::string_view, const NamedTrace*> richest;
  for (const NamedTrace& trace : traces) {
    const NamedTrace*& kept = richest[trace.host];
    if (kept == nullptr) {
      kept = &trace;
      continue;
    }
    const auto rank = [&](const NamedTrace& one) {
      return std::pair(!is_empty_file((directory / one.name).string()), one.richness);
    };
    if (rank(trace) > rank(*kept)) kept = &trace;
  }
  std::vector<std::string> paths;
  paths.reserve(richest.size());
  for (const auto& [host, trace] : richest) paths.push_back((directory / trace->name).string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string_view without_recorder(std::string_view host) {
  if (host.ends_with(kJaxRecording)) host.remove_suffix(kJaxRecording.size());
  return host;
}

std::vector<std::string> traces_beside(const std::string& file, std::size_t most, LargeFolder& large) {
  const std::size_t end_of_folder = file.rfind('/') + 1;  // 0 where the file is in this one
  const std::string folder = file.substr(0, end_of_folder);
  const std::optional<NamedTrace> own = as_trace_file(std::string_view(file).substr(end_of_folder));
  if (!own) return {file};
  const char* const opened = folder.empty() ? "." : folder.c_str();
  struct stat status {};
  const bool is_known = ::stat(opened, &status) == 0;
  if (is_known && large.is(folder, status)) {
    if (!may_hold_pairs(large, opened, status)) return {file};
    return recordings_of_host(file, folder, own->host);
  }
  if (const std::optional<std::vector<std::string>> names = few_names_in(opened)) {
    std::vector<std::string> files = {file};
    const std::vector<NamedTrace> others = traces_of_other_hosts(*names, own->host);
    for (std::string& other : most_complete_files({}, others)) files.push_back(folder + other);
    std::sort(files.begin(), files.end());
    if (files.size() <= most) return files;
  }
  if (is_known) {
    large = {};
    large.path = folder;
    large.changed_s = status.st_mtim.tv_sec;
    large.changed_ns = status.st_mtim.tv_nsec;
  }
  return recordings_of_host(file, folder, own->host);
}

std::string file_to_read(const std::string& file) {
  if (!file.ends_with(kXSpaceSuffix) || !is_empty_file(file)) return file;
  std::string other = richest_file(file.substr(0, file.size() - kXSpaceSuffix.size()));
  return other.empty() ? file : other;
}

std::optional<XSpaceBeside> xspace_beside(const std::string& file) {
  constexpr std::string_view kChromeSuffix = ".trace.json";
  const std::size_t end_of_folder = file.rfind('/') + 1;  // 0 where the file is in this one
  const std::optional<NamedTrace> trace = as_trace_file(std::string_view(file).substr(end_of_folder));
  if (!trace || file.find(kChromeSuffix, end_of_folder) == std::string::npos) return std::nullopt;
  std::string xspace = file.substr(0, end_of_folder) + trace->host + std::string(kXSpaceSuffix);
  struct stat status {};
  if (::stat(xspace.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return XSpaceBeside{std::move(xspace), status.st_size == 0};
}

bool EnteredFolders::enter(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && visited_.emplace(status.st_dev, status.st_ino).second;
}

bool may_be_trace(std::string_view name) {
  constexpr std::array<std::string_view, 4> kEndings = {".json", ".json.gz", ".pb", ".pb.gz"};
  return !name.starts_with('.') &&
         std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

void PassedOver::add(std::string path) {
  constexpr std::size_t kMostNamed = 3;
  if (count++ < kMostNamed) first.push_back(std::move(path));
}

void TraceWalk::take_others(const std::filesystem::path& here, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::string path = (here / name).string();
    if (may_be_trace(name)) {
      files_.push_back(std::move(path));
    } else {
      passed_over_->add(std::move(path));
    }
  }
}

std::optional<Result<std::string>> TraceWalk::next() {
  while (files_.empty()) {
    std::vector<std::filesystem::path>& source = folders_.empty() ? linked_ : folders_;
    if (source.empty()) return std::nullopt;
    const std::filesystem::path here = std::move(source.back());
    source.pop_back();
    if (!entered_.enter(here)) continue;
    const Result<TraceFolder> folder = read_trace_folder(here);
    if (!folder) return Unexpected(folder.error());
    for (std::string& file : most_complete_files(here, folder->traces)) files_.push_back(std::move(file));
    for (const std::string& name : folder->broken_links) files_.push_back((here / name).string());
    if (passed_over_ != nullptr) take_others(here, folder->other_files);
    add_folders(here, folder->folders, folders_);
    add_folders(here, folder->linked_folders, linked_);
  }
  Result<std::string> file = std::move(files_.front());
  files_.pop_front();
  return file;
}

}  // namespace doctor
