#pragma once

#include <vector>

#include "base/result.h"

namespace doctor {

/// One profiling run: the trace files that were recorded together, one a host (and for TF1 one a step).
struct Run {
  std::string name;                ///< name of the run directory, e.g. "2026_11_21_10_31_22"
  std::string directory;           ///< path of its directory
  std::vector<std::string> files;  ///< trace files in it, sorted; only the richest of a host with several formats
};

/// The runs below a TensorBoard log directory (`<dir>/**/plugins/profile/<run>/`), or in a folder of scripts/record
/// (`<dir>/run_000/`, `run_001/` and so on), newest first. They are ordered by the newest modification time of a run's
/// files, then by name. Directory loops are not followed. Errors: not a directory, unreadable.
Result<std::vector<Run>> list_runs(const std::string& log_directory);

/// The recordings that a path denotes where runs are compared. A file is one recording. A run directory is one, whose
/// files are the hosts. A log directory has one for each run. Any other directory has one for each trace file in it,
/// else one for each directory in it that holds trace files, whose files are hosts. Sorted by name, and named by file
/// or directory. Errors: as of resolve_inputs().
Result<std::vector<Run>> list_recordings(const std::string& path);

/// Turns the TRACE… of the command line into trace files to read together, each recording once (without_repeats()). A
/// file or "-" is itself, a run directory its trace files, a directory of runs its newest one or the run named `run`.
/// Errors: missing path, directory without traces or with recordings of several versions, no run of that name (the hint
/// lists some).
Result<std::vector<std::string>> resolve_inputs(const std::vector<std::string>& paths,
                                                const std::optional<std::string>& run);

/// Trace files that are each read alone.
struct SeparateInputs {
  std::vector<std::string> files;  ///< each recording once (without_repeats())
  std::vector<Error> unreadable;   ///< paths that do not exist, folders that could not be read or hold no trace
};

/// Turns the TRACE… of a command that takes each trace alone, such as `batch`, into files: a file or "-" is itself, a
/// directory is every trace file below it at any depth.
SeparateInputs resolve_separate_inputs(const std::vector<std::string>& paths);

/// Removes files whose content another file holds, so that nothing counts twice: the same file under another name, a
/// copy, and the same run of a host in a format with less information. Sorted, so that the order of the names changes
/// nothing.
std::vector<std::string> without_repeats(std::vector<std::string> files);

}  // namespace doctor
