#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "command_line/options.h"
#include "compare/baseline.h"

namespace doctor {

/// Recordings as summaries: of traces, and from baselines.
struct Recordings {
  std::vector<StoredRun> runs;       ///< in the order given; every run once
  std::vector<std::string> files;    ///< that they were read from
  std::vector<Error> unreadable;     ///< why recordings are missing
  std::vector<std::string> repeats;  ///< recordings that hold the same as one before, left out
};

/// Reads what the paths stand for: traces, run directories, directories of recordings, baselines. A recording that
/// cannot be read does not stop the others. Errors: a path without recordings.
Result<Recordings> read_recordings(const Options& options, const std::vector<std::string>& paths);

/// Tells on standard error what is missing.
void print_missing(const Options& options, const Recordings& recordings);

}  // namespace doctor
