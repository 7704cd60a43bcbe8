#pragma once

#include "command_line/request.h"
#include "config/config.h"

namespace doctor {

/// A setting, whether it was given or not.
struct SettingInForce {
  std::string key;                                                ///< as in the configuration file
  std::variant<std::monostate, bool, double, std::string> value;  ///< monostate: it has none, and nothing is limited
  std::string source;                                             ///< "default", "--fail-on"; foreign text
};

/// Every setting with its value and the place of that: options first, in the order of the table, then thresholds,
/// budgets and suppressions that were given.
std::vector<SettingInForce> settings_in_force(const Request& request);

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

/// Text that answers the command line by itself: help or version.
struct ReadyAnswer {
  std::string text;
};

/// Parses the command line, without the program's name, together with the environment and the configuration file.
/// Without a command it is `diagnose`. Errors: anything that is not understood, with the nearest valid name.
tl::expected<std::variant<Request, ReadyAnswer>, Errors> parse_command_line(std::vector<std::string> arguments,
                                                                            const Surroundings& around);

}  // namespace doctor
