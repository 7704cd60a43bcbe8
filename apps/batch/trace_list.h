#pragma once

#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <unordered_set>

#include "base/hash.h"
#include "base/result.h"
#include "io/trace_folder.h"

namespace doctor {

/// Paths that were seen, by the millions. Two hashes of each are kept. A collision among a million paths is less likely
/// than a memory error.
class PathSet {
 public:
  /// Adds a path; true if it is new.
  bool add(std::string_view path) { return keys_.insert(key_of(path)).second; }
  bool contains(std::string_view path) const { return keys_.contains(key_of(path)); }
  std::size_t size() const { return keys_.size(); }

 private:
  struct Key {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    friend bool operator==(const Key& a, const Key& b) { return a.first == b.first && a.second == b.second; }
  };
  struct FirstPart {
    std::size_t operator()(const Key& key) const { return key.first; }
  };

  static Key key_of(std::string_view path) { return {fnv1a_64(path), std::hash<std::string_view>()(path)}; }

  std::unordered_set<Key, FirstPart> keys_;
};

/// A trace file that was found in a folder.
struct FoundTrace {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;  ///< time of its last change since 1970

  friend bool operator==(const FoundTrace&, const FoundTrace&) = default;
};

/// Finds the trace files below a directory, at any depth, except `known` ones. Calls `tell` with the error of a folder
/// that could not be read.
std::vector<FoundTrace> look_for_traces(const std::string& directory, const PathSet& known,
                                        const std::function<void(const Error&)>& tell);

/// Finds out which traces of a folder are complete: a file that is being written is waited for.
class TraceWatch {
 public:
  /// `rest` is the time without writing after which a file that is seen for the first time counts as complete.
  explicit TraceWatch(std::chrono::nanoseconds rest) : rest_(rest) {}

  /// Takes the files found that are not in known(). Returns the paths of complete ones, each once: their size and time
  /// are unchanged since the last look, or nothing was written to them for `rest`. Files in the folder of a run
  /// (plugins/profile/RUN) are complete when all of them are, because they may be about one process.
  std::vector<std::string> take(const std::vector<FoundTrace>& found, std::int64_t now_ns);

  /// All paths that were returned.
  const PathSet& known() const { return known_; }

  /// The number of files in the last look that are not complete yet.
  std::size_t unfinished() const { return growing_.size(); }

 private:
  bool is_whole(const FoundTrace& trace, std::int64_t now_ns) const;

  std::chrono::nanoseconds rest_;
  PathSet known_;
  std::map<std::string, FoundTrace> growing_;  ///< by path
};

/// The known folders of a batch's traces, which its workers may read. If there are very many, the one that contains
/// them all.
class TraceFolders {
 public:
  /// Adds a file or folder that the user named.
  void add_named(const std::string& path);

  /// Tests whether the trace lies below a known folder, and makes its folder known if not.
  bool take(const std::string& trace);

  /// Tests whether the target of the path lies below a known folder.
  bool knows(const std::string& trace) const;

  std::vector<std::string> list() const { return {folders_.begin(), folders_.end()}; }

 private:
  bool knows_folder(const std::string& folder) const;
  bool take_folder(const std::string& folder);

  std::set<std::string> folders_;  ///< without links
  std::string last_;               ///< the folder of the last trace, as it was named
};

/// One of several parts of a list of traces, chosen by a hash of the path: a path is in the same part wherever and
/// whenever the list is divided.
struct Shard {
  std::uint64_t index = 1;  ///< from 1
  std::uint64_t count = 1;

  bool has(std::string_view path) const;
};

/// Parses "2/8"; nullopt for any other text.
std::optional<Shard> parse_shard(std::string_view text);

/// The traces of a batch, one after another, each once. It never holds all of their names at a time. Paths are files,
/// "-", and directories, which are searched at any depth.
class TraceList {
 public:
  struct Source {
    std::vector<std::string> paths;
    std::optional<std::string> files_from;  ///< a file with paths; "-" is standard input
    char path_end = '\n';                   ///< ends each of the paths in the file
    Shard shard;
  };

  /// Opens a list. Errors: the file with paths cannot be read.
  static Result<std::unique_ptr<TraceList>> open(const Source& source);

  /// The next trace, or the error of a directory or of the rest of the file with paths; the list goes on after that.
  /// nullopt at the end.
  std::optional<Result<std::string>> next();

  /// Adds a path after those that were named.
  void name(std::string path) { paths_.push_back(std::move(path)); }

  /// Adds a trace that was not named, as if next() had returned it. False if it was returned before or is in another
  /// shard.
  bool add(const std::string& trace) { return shard_.has(trace) && seen_.add(trace); }

  /// The files of directories that were passed over so far.
  PassedOver& passed_over() { return passed_over_; }

 private:
  explicit TraceList(const Source& source)
      : paths_(source.paths.begin(), source.paths.end()), path_end_(source.path_end), shard_(source.shard) {}

  std::optional<Result<std::string>> next_file();
  std::optional<Result<std::string>> next_path();

  std::deque<std::string> paths_;
  std::string files_from_;  ///< the file with more paths; empty if there is none
  std::ifstream more_paths_;
  std::string line_;  ///< buffer for one of its lines
  char path_end_;
  std::optional<TraceWalk> walk_;  ///< over the directory that is being searched
  Shard shard_;
  PathSet seen_;
  PassedOver passed_over_;
};

}  // namespace doctor
