#pragma once

#include "analysis.h"
#include "base/result.h"
#include "compare/baseline.h"
#include "diagnose/budget.h"
#include "io/trace_inputs.h"

namespace doctor {

/// A budget on one recording.
struct BudgetOnRecording {
  std::string text;  ///< for people: "max_input_share is exceeded: 45 %, at most 10 %"
  bool is_exceeded = false;
  bool is_evaluated = false;  ///< false: the recording shows too little
};

/// Recordings as summaries: of traces, and from baselines.
struct Recordings {
  std::vector<StoredRun> runs;                          ///< in the order given; every run once
  std::vector<std::string> files;                       ///< files that they were read from
  std::vector<std::vector<BudgetOnRecording>> budgets;  ///< indexed by budget: each recording that was read from traces
  std::vector<Error> unreadable;                        ///< why recordings are missing
  /// recordings with the same content as an earlier one, left out
  std::vector<std::string> repeats;
};

/// The recordings that a path denotes.
struct NamedRecordings {
  std::string path;
  bool is_baseline = false;
  std::vector<Run> runs;  ///< empty for a baseline
};

/// Finds the recordings in paths: traces, run directories, directories of recordings, baselines. Errors: a path without
/// recordings.
Result<std::vector<NamedRecordings>> find_recordings(const std::vector<std::string>& paths);

/// The files that they are read from.
std::vector<std::string> files_of(const std::vector<NamedRecordings>& named);

/// Recordings that stand together in a comparison.
struct RecordingSide {
  std::vector<NamedRecordings> named = {};
  std::string label = {};            ///< of those that are read from traces
  std::vector<Budget> budgets = {};  ///< that they are held against
};

/// Reads the recordings of all sides, small ones side by side. One that cannot be read does not stop the others.
/// Indexed as the sides. Errors: a baseline that cannot be read.
Result<std::vector<Recordings>> read_recordings(std::vector<RecordingSide> sides, const ReadingOptions& reading,
                                                bool is_quiet);

/// Reports on standard error what is missing.
void print_missing(const Recordings& recordings, bool is_quiet);

}  // namespace doctor
