#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace doctor {

/// The path of the configuration file for work in `directory`: the nearest one from there upwards. The search ends with
/// the first directory that holds `.git`, so that files above a repository do not change its results; without one it
/// ends at the top. nullopt if there is none.
std::optional<std::string> find_config_file(const std::string& directory);

/// The bytes of a configuration file. Errors: it cannot be read, or is too large to be one.
Result<std::string> read_config_file(const std::string& path);

}  // namespace doctor
