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

/// The surroundings of the program that may change what it does, as a value, so that tests need none of them.
struct Surroundings {
  std::function<std::optional<std::string>(const std::string& name)> variable;  ///< a variable of the environment
  std::string directory;                                                        ///< the working directory
  std::chrono::year_month_day today;                                            ///< in UTC
};

/// The surroundings of this process.
Surroundings surroundings();

/// Everything with thresholds that can be set: the rules, and `compare`.
std::vector<CatalogEntry> settable_catalog();

/// Adds the environment and the configuration file to the command line: command line > environment > file > defaults.
/// Thresholds, budgets and suppressions add up; among several about the same thing the one with the highest precedence
/// is taken. Settings that the command cannot take are left out; `config` takes everything. Errors: all those of the
/// file, or the first one of another place.
tl::expected<void, Errors> add_settings(Request& request, const Surroundings& around);

/// The keys of a configuration file that set options.
std::vector<ConfigKey> config_keys();

}  // namespace doctor
