#pragma once

#include <string>

#include "base/result.h"

namespace doctor {

/// Why `path` could not be opened or examined, from the errno value of the failed call. For a missing path the hint
/// names the most similar entry of its directory that can be read, if one is close.
Error path_error(const std::string& path, int error_number);

}  // namespace doctor
