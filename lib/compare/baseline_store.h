#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/baseline.h"
#include "io/locked_file.h"

namespace doctor {

// A baseline is a file: JSON, to be committed, or an SQLite database, for a history that many jobs add to at once. What
// is there decides by its content; a new file by its name: JSON where that ends in .json. Every change is whole or not
// at all: a program that is killed at any moment loses no run that was stored before.

/// Whether the start of a file is that of a baseline of either kind.
bool sniff_baseline(std::string_view head);

/// The runs in the order in which they were added. Errors: no such file, not a baseline.
Result<std::vector<StoredRun>> load_baseline(const std::string& path);

enum class BaselineKind { json, database, other };

/// How a JSON baseline is opened and replaced: by its name, or by a process that does so for one that may not.
struct BaselineAccess {
  FileOpener open;
  /// Puts new content in the place of the file, at once.
  std::function<Result<void>(const std::string& path, std::string_view bytes)> replace;
};

BaselineAccess access_by_name();

/// The kind of a baseline that is to be changed, or made. Errors: what is there is not a baseline.
Result<BaselineKind> kind_to_change(const std::string& path);

/// How many of the runs that were added last are to stay.
using KeptRuns = std::function<std::size_t(const std::vector<StoredRun>& runs)>;

/// Adds runs that are not stored yet, and makes the file where there is none; then takes out all but those that are
/// `kept`, if that is given. How many were new. Several programs may add at once. Errors: the file is not a baseline,
/// or cannot be written.
Result<std::size_t> add_to_baseline(const std::string& path, BaselineKind kind, const std::vector<StoredRun>& runs,
                                    const BaselineAccess& access, const KeptRuns& kept = {});
Result<std::size_t> add_to_baseline(const std::string& path, const std::vector<StoredRun>& runs);

/// Takes out all but those. How many that were. Errors: as of add_to_baseline(), or no such file.
Result<std::size_t> prune_baseline(const std::string& path, BaselineKind kind, const KeptRuns& kept,
                                   const BaselineAccess& access);
Result<std::size_t> prune_baseline(const std::string& path, std::size_t keep);

}  // namespace doctor
