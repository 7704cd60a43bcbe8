#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "command_line/request.h"
#include "documents.h"
#include "pipeline.h"
#include "process/memory_limit.h"
#include "reading_sandbox.h"

namespace doctor {

/// What every command takes that reads traces.
struct ReadingOptions {
  std::vector<std::string> traces;                ///< files, directories, "-"
  std::optional<std::string> run;                 ///< name of a run in a log directory
  std::optional<std::vector<std::string>> files;  ///< that these mean, where it is known already
  std::optional<std::string> host;                ///< the only host of the run that is wanted
  DiagnosisSetup setup;                           ///< rules, settings and threads
  MemoryLimit max_memory;
  bool timings = false;
  SandboxChoice sandbox;
};

/// The files that documents go to.
std::vector<std::string> paths_of(const OutputOptions& output);

/// Cores that this process may run on.
unsigned usable_cores();

/// Takes TRACE, --run, --host, --threads, --max-memory, --timings, --set, --suppress and --no-sandbox, as far as the
/// command has them.
ReadingOptions reading_options(const Request& request);

/// The same where there must be a trace. Errors: there is none.
Result<ReadingOptions> reading_options_with_traces(const Request& request);

/// Runs the work on the files with a progress bar where a person waits.
void run_watched(const std::vector<std::string>& files, bool is_quiet, const std::function<void(Progress&)>& work);

/// Diagnoses the files with a progress bar where a person waits.
Analysis diagnose_watched(const std::vector<std::string>& files, DiagnosisSetup setup, bool is_quiet);

/// How a page is made of the traces.
struct TracePage {
  AnalysisOptions needed;  ///< beyond the diagnosis

  /// Called first, for what else the command does to a diagnosis; may be empty.
  std::function<void(Analysis&)> prepare;

  /// The page in one of the formats that are wanted. Errors: what was asked for is not in the trace.
  std::function<Result<std::string>(const Analysis&, OutputFormat)> render;

  /// The exit status.
  std::function<int(const Analysis&)> judge;
};

/// Finds the traces that the user named and diagnoses them. Files that could not be read beside others are reported on
/// standard error. Errors: no trace, a limit that cannot be set, no file that could be read.
Result<Analysis> analyze_traces(const ReadingOptions& reading, const OutputOptions& output, const TracePage& page);

/// Writes the page in each format that is wanted, with the timings if they are. Exit status: that of `judge`, or
/// kExitFailure where something could not be rendered or written, which is reported on standard error.
int write_page(const Analysis& analysis, const ReadingOptions& reading, const OutputOptions& output,
               const TracePage& page);

/// Both. Exit status: as of write_page(). Errors: as of analyze_traces().
Result<int> run_page(const ReadingOptions& reading, const OutputOptions& output, const TracePage& page);

}  // namespace doctor
