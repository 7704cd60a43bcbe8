#pragma once

#include <string>

#include "base/result.h"

namespace doctor {

/// Why `path` could not be opened or examined, from the errno value of the failed call. For a missing path the hint
/// names the most similar entry of its directory that can be read, if one is close.
Error path_error(const std::string& path, int error_number);

/// Refuses what a name may lead to that is neither a file nor a directory: reading a named pipe waits for a writer who
/// may never come, and a device may never end. "-" and what the caller has open already, as a shell's <(...) is, are
/// for the caller to judge. What is not there is no error.
Result<void> check_that_it_ends(const std::string& path);

}  // namespace doctor
