#pragma once

#include <cstdint>
#include <deque>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "batch/path_set.h"
#include "io/trace_walk.h"

namespace doctor {

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
};

}  // namespace doctor
