#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "batch/row_output.h"
#include "batch/trace_list.h"
#include "diagnose/budget.h"
#include "diagnose/finding.h"
#include "pipeline.h"
#include "process/memory_limit.h"
#include "reading_sandbox.h"

namespace doctor {

/// The options of `batch`.
struct BatchOptions {
  std::vector<std::string> traces;  ///< files, directories, "-"
  std::optional<std::string> files_from;
  char path_end = '\n';  ///< ends each path in that file
  Shard shard;
  std::optional<std::string> name;  ///< of the trace on standard input
  std::string output;               ///< file of rows; empty or "-" is standard output
  bool resumes = false;
  std::size_t jobs = 1;
  std::optional<std::chrono::seconds> time_limit;  ///< of one trace
  MemoryLimit max_memory;                          ///< of all workers together
  std::optional<Severity> fail_on;                 ///< nullopt: never
  std::vector<Budget> budgets;                     ///< budgets that each trace is held against
  DiagnosisSetup setup;
  SandboxChoice sandbox;  ///< of the workers
  bool quiet = false;
  /// Called with every row when it is stored; then no progress is shown. May be empty.
  std::function<void(std::string_view row)> tell_row = {};
};

/// The further options of `watch`. The one path of BatchOptions::traces is the directory that it follows.
struct WatchOptions {
  std::chrono::milliseconds every{};  ///< from the end of one pass to the next look
  bool is_once = false;               ///< end after one pass
};

/// Diagnoses every trace in a worker process and writes its row. Ctrl-C ends it early, after a complete row. Errors:
/// nothing could be started, or a row could not be stored.
Result<BatchTally> diagnose_batch(const BatchOptions& options);

/// The same for the traces below a directory, as they appear, each when it is complete (TraceWatch). Ends after one
/// pass, or when a signal comes.
Result<BatchTally> watch_batch(const BatchOptions& options, const WatchOptions& watch);

}  // namespace doctor
