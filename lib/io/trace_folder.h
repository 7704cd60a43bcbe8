#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <deque>
#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace doctor {

/// A file whose name says that it is a trace.
struct NamedTrace {
  std::string name;
  std::string host;  ///< two files of one host in one folder hold the same run
  int richness = 0;  ///< of two files of one host, the one with the higher richness is read
};

/// Of a folder without any.
inline constexpr std::string_view kNoTraceFiles =
    "holds no trace files (*.xplane.pb, *.trace.json[.gz], timeline_*.json)";

/// The trace that a file name denotes; nullopt if it is not the name of a trace.
std::optional<NamedTrace> as_trace_file(std::string_view name);

/// The part of a file name that marks a recording of JAX's profiler beside TensorFlow's: "vm.jax.xplane.pb".
inline constexpr std::string_view kJaxRecording = ".jax";

/// The host of a trace's name without kJaxRecording.
std::string_view without_recorder(std::string_view host);

struct TraceFolder {
  std::vector<NamedTrace> traces;
  std::vector<std::string> folders;         ///< names, sorted
  std::vector<std::string> linked_folders;  ///< names of symbolic links to folders, sorted
  std::vector<std::string> broken_links;    ///< names of traces that lead nowhere, sorted
  std::vector<std::string> other_files;     ///< names, sorted
};

/// Lists a folder. Errors: not a directory, unreadable.
Result<TraceFolder> read_trace_folder(const std::filesystem::path& path);

/// The paths of the richest file of each host, sorted. An empty file is chosen only where there is no other.
std::vector<std::string> most_complete_files(const std::filesystem::path& directory,
                                             const std::vector<NamedTrace>& traces);

/// The file to read where `file` is named. It is that file, except for a recording of more than 2 GB: a profiler leaves
/// an empty XSpace then, and the Chrome trace of the same host beside it is read, if there is one.
std::string file_to_read(const std::string& file);

/// The XSpace of the same host beside a Chrome trace.
struct XSpaceBeside {
  std::string path;
  bool is_empty = false;
};

/// Finds the XSpace beside a Chrome trace; nullopt if there is none, or the file is not named like a Chrome trace.
std::optional<XSpaceBeside> xspace_beside(const std::string& file);

/// A folder that is not listed, because it has too many entries or traces, or cannot be read; with its state when that
/// was found out.
struct LargeFolder {
  std::string path;
  std::int64_t changed_s = -1;  ///< when an entry was last added or removed, in seconds of the Unix epoch
  std::int64_t changed_ns = 0;  ///< the nanoseconds of that second
  std::uint32_t asked = 0;      ///< how often since then a file's neighbours were asked for
  enum class Pairs { unknown, none, some };
  Pairs pairs = Pairs::unknown;  ///< whether any name in it is that of a recording by JAX's profiler

  /// Tests whether this is the folder, and nothing was added or removed since.
  bool is(std::string_view folder, const struct stat& status) const;
};

/// The trace files in the folder of a file, itself included, the richest of each host, sorted. In a folder with more
/// than `most` of them, only those whose names are of the file's host: "vm.xplane.pb" and "vm.jax.xplane.pb". `large`
/// is the last folder that was found to be large. Without it the system would read the entries of the folder again for
/// each of its files, a good part of what the diagnosis of a small trace takes.
std::vector<std::string> traces_beside(const std::string& file, std::size_t most, LargeFolder& large);

/// The folders that were entered, by device and inode: a symbolic link may lead back up.
class EnteredFolders {
 public:
  /// Enters a folder; true on the first visit.
  bool enter(const std::filesystem::path& path);

 private:
  std::set<std::pair<dev_t, ino_t>> visited_;
};

/// Tests whether the content of a file may be a trace although its name, without a folder, does not say so:
/// "rank-0.json.gz".
bool may_be_trace(std::string_view name);

/// Files of folders that are not traces.
struct PassedOver {
  std::uint64_t count = 0;
  std::vector<std::string> first;  ///< paths of the first few

  void add(std::string path);
};

/// All trace files below a directory at any depth, one after another, only the richest of each host in a folder. It
/// keeps one folder, and the names of those still to be entered. Links to traces that do not exist count as files, too,
/// so that opening them reports it. Files come by name within a folder; folders come before links to folders, and each
/// is entered once.
class TraceWalk {
 public:
  /// Without `passed_over` names alone tell what is a trace. With it, JSON files and messages (".pb") of other names
  /// come after the traces of a folder, because their content may tell, and all further files are added to it.
  explicit TraceWalk(const std::string& directory, PassedOver* passed_over = nullptr)
      : folders_({directory}), passed_over_(passed_over) {}

  /// The next file, or the error of a folder that could not be read; the walk goes on after that. nullopt at the end.
  std::optional<Result<std::string>> next();

 private:
  void take_others(const std::filesystem::path& here, const std::vector<std::string>& names);

  std::vector<std::filesystem::path> folders_;  ///< still to be entered, the next one last
  std::vector<std::filesystem::path> linked_;   ///< folders that symbolic links lead to
  EnteredFolders entered_;
  std::deque<std::string> files_;  ///< files of the folder that was entered last
  PassedOver* passed_over_;
};

}  // namespace doctor
