#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/baseline.h"
#include "io/replaced_file.h"

namespace doctor {

// Baselines as files of JSON, to be committed or to be kept where the recordings are made. Every change is complete or
// does not happen: a program that is killed at any moment loses no run that was stored before.

/// Tests whether the start of a file is that of a baseline, of one that earlier versions kept in SQLite, too.
bool sniff_baseline(std::string_view head);

/// The runs in the order in which they were added. Errors: no such file, not a baseline.
Result<std::vector<StoredRun>> load_baseline(const std::string& path);

/// How a baseline is opened and replaced: by its name, or by another process on behalf of one that may not.
struct BaselineAccess {
  FileOpener open;
  /// Replaces the content of the file at once.
  std::function<Result<void>(const std::string& path, std::string_view bytes)> replace;
};

/// Tests whether a baseline can be changed, or made. Errors: the file is not a baseline, or one in SQLite.
Result<void> check_to_change(const std::string& path);

/// The number of the last added runs that are to stay.
using KeptRuns = std::function<std::size_t(const std::vector<StoredRun>& runs)>;

/// Adds runs that are not stored yet, and creates the file if needed. Then removes all runs but the last `kept`, if
/// that is given. Returns the number of new runs. Several programs may add at once. Errors: the file is not a baseline,
/// or cannot be written.
Result<std::size_t> add_to_baseline(const std::string& path, const std::vector<StoredRun>& runs,
                                    const BaselineAccess& access, const KeptRuns& kept = {});

/// Removes all runs but the last `kept`, and returns their number. Errors: as of add_to_baseline(), or no such file.
Result<std::size_t> prune_baseline(const std::string& path, const KeptRuns& kept, const BaselineAccess& access);

}  // namespace doctor
