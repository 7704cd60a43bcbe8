#pragma once

#include <string>

#include "base/result.h"

namespace doctor {

/// The error for a `path` that could not be opened or examined, from the errno value of the failed call. For a missing
/// path the hint names the most similar readable entry of its directory, if one is close.
Error path_error(const std::string& path, int error_number);

/// Rejects paths that are neither a file nor a directory: reading a named pipe waits for a writer who may never come,
/// and a device may never end. "-" and descriptors that are already open, such as a shell's <(...), are for the caller
/// to check. A missing path passes.
Result<void> check_that_it_ends(const std::string& path);

}  // namespace doctor
