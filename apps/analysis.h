#pragma once

#include "base/result.h"
#include "command_line/request.h"
#include "documents.h"
#include "pipeline.h"
#include "process/process_limits.h"
#include "reading_sandbox.h"

namespace doctor {

/// The options of every command that reads traces.
struct ReadingOptions {
  std::vector<std::string> traces;                ///< files, directories, "-"
  std::optional<std::string> run;                 ///< name of a run in a log directory
  std::optional<std::vector<std::string>> files;  ///< files that these mean, if they are known already
  std::optional<std::string> host;                ///< the only host of the run that is wanted
  DiagnosisSetup setup;                           ///< rules, settings and threads
  MemoryLimit max_memory;
  bool timings = false;
  SandboxChoice sandbox;
};

/// The files that documents go to.
std::vector<std::string> paths_of(const OutputOptions& output);

/// The number of cores that this process may run on.
unsigned usable_cores();

/// Reads TRACE, --run, --host, --threads, --max-memory, --timings, --set, --suppress and --no-sandbox, as far as the
/// command has them.
ReadingOptions reading_options(const Request& request);

/// The same for a command that needs a trace. Errors: there is none.
Result<ReadingOptions> reading_options_with_traces(const Request& request);

/// Runs the work on the files, with a progress bar if a person waits.
void run_watched(const std::vector<std::string>& files, bool is_quiet, const std::function<void(Progress&)>& work);

/// Diagnoses the files, with a progress bar if a person waits.
Analysis diagnose_watched(const std::vector<std::string>& files, DiagnosisSetup setup, bool is_quiet);

/// The way in which a page is made of the traces.
struct TracePage {
  TraceNeeds needs;  ///< beyond the diagnosis

  /// Called first, for changes that the command makes to a diagnosis; may be empty.
  std::function<void(Analysis&)> prepare;

  /// Renders the page in one of the wanted formats. Errors: what was requested is not in the trace.
  std::function<Result<std::string>(const Analysis&, OutputFormat)> render;

  /// The exit status.
  std::function<int(const Analysis&)> judge;
};

/// Finds the traces that the user named and diagnoses them. Files that could not be read beside others are reported on
/// standard error. Errors: no trace, a limit that cannot be set, no file that could be read.
Result<Analysis> analyze_traces(const ReadingOptions& reading, const OutputOptions& output, const TracePage& page);

/// Writes the page in each wanted format, and the timings if they are wanted. Returns the exit status of `judge`, or
/// kExitFailure if something could not be rendered or written, which is reported on standard error.
int write_page(const Analysis& analysis, const ReadingOptions& reading, const OutputOptions& output,
               const TracePage& page);

/// analyze_traces() and write_page(). Exit status as of the latter, errors as of the former.
Result<int> run_page(const ReadingOptions& reading, const OutputOptions& output, const TracePage& page);

}  // namespace doctor
