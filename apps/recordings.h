#pragma once

#include <string>
#include <vector>

#include "analysis.h"
#include "base/result.h"
#include "compare/baseline.h"

namespace doctor {

/// Recordings as summaries: of traces, and from baselines.
struct Recordings {
  std::vector<StoredRun> runs;       ///< in the order given; every run once
  std::vector<std::string> files;    ///< that they were read from
  std::vector<Error> unreadable;     ///< why recordings are missing
  std::vector<std::string> repeats;  ///< recordings that hold the same as one before, left out
};

/// Reads the recordings in paths: traces, run directories, directories of recordings, baselines. Those of traces get
/// the label. A recording that cannot be read does not stop the others. Errors: a path without recordings.
Result<Recordings> read_recordings(const std::vector<std::string>& paths, const DiagnosisSetup& setup,
                                   const std::string& label, bool is_quiet);

/// Reports on standard error what is missing.
void print_missing(const Recordings& recordings, bool is_quiet);

}  // namespace doctor
