#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "command_line/request.h"
#include "config/config.h"

namespace doctor {

/// What is around the program and may change what it does. A value, so that tests need none of it.
struct Surroundings {
  std::function<std::optional<std::string>(const std::string& name)> variable;  ///< of the environment
  std::string directory;                                                        ///< the working directory
  std::chrono::year_month_day today;                                            ///< in UTC
};

/// Those of this process.
Surroundings surroundings();

/// The rules, and `compare` for its thresholds: all that can be set.
std::vector<CatalogEntry> settable_catalog();

/// Adds the environment and the configuration file to the command line: command line > environment > file > defaults.
/// Thresholds, budgets and suppressions add up; of several about the same the one that counts more is taken. What the
/// command cannot take is left out; `config` takes everything. Errors: all those of the file, or the first one of
/// another place.
tl::expected<void, Errors> add_settings(Request& request, const Surroundings& around);

/// The keys of a configuration file that set options.
std::vector<ConfigKey> config_keys();

}  // namespace doctor
