#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace doctor {

/// A file that its name says is a trace.
struct NamedTrace {
  std::string name;
  std::string host;  ///< two files of one host in one folder hold the same run
  int richness = 0;  ///< of two files of one host the one with the higher richness is read
};

/// What the name of a file says; nothing if it is not the name of a trace.
std::optional<NamedTrace> as_trace_file(std::string_view name);

/// How the host is called in the name of a file that JAX's profiler recorded beside TensorFlow's: "vm.jax.xplane.pb".
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

/// Errors: not a directory, unreadable.
Result<TraceFolder> read_trace_folder(const std::filesystem::path& path);

/// Paths of the richest file of each host, sorted; an empty one only where there is no other.
std::vector<std::string> most_complete_files(const std::filesystem::path& directory,
                                             const std::vector<NamedTrace>& traces);

/// The file that holds what was recorded where `file` is named. For most it is that file. Of more than 2 GB a profiler
/// leaves an empty XSpace: then it is the Chrome trace of the same host beside it, if there is one.
std::string file_to_read(const std::string& file);

/// The XSpace of the same host beside a Chrome trace.
struct XSpaceBeside {
  std::string path;
  bool is_empty = false;
};

/// nullopt where there is none, or the file is not named like a Chrome trace.
std::optional<XSpaceBeside> xspace_beside(const std::string& file);

/// A folder of which nothing is listed, because it has too many entries or traces, or cannot be read, as it was when
/// that was found out.
struct LargeFolder {
  std::string path;
  std::int64_t changed_s = -1;  ///< when an entry came or went last: seconds of the Unix epoch
  std::int64_t changed_ns = 0;  ///< and ns of that second
  std::uint32_t asked = 0;      ///< how often since then it was asked what lies beside one of its files
  enum class Pairs { unknown, none, some };
  Pairs pairs = Pairs::unknown;  ///< whether any name in it is of a recording by JAX's profiler

  /// Whether it is that folder, and nothing came or went.
  bool is(std::string_view folder, const struct stat& status) const;
};

/// The trace files in the folder of a file, itself included, of each host the richest, sorted. Of a folder with more
/// than `most` of them only those of the file's host, as their names say: "vm.xplane.pb" and "vm.jax.xplane.pb".
/// `large`: the last one that was found so. Asked for one file after another, the system would otherwise read its
/// entries for each of them, which is a good part of what the diagnosis of a small trace takes.
std::vector<std::string> traces_beside(const std::string& file, std::size_t most, LargeFolder& large);

/// Folders that were entered, by device and inode: a symbolic link may lead back up.
class EnteredFolders {
 public:
  /// Whether this is the first visit.
  bool enter(const std::filesystem::path& path);

 private:
  std::set<std::pair<dev_t, ino_t>> visited_;
};

}  // namespace doctor
