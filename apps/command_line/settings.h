#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/result.h"
#include "command_line/command_line.h"
#include "command_line/given_values.h"
#include "command_line/surroundings.h"
#include "config/config.h"

namespace doctor {

/// What command line, environment and configuration file say together.
struct Settings {
  GivenValues values;  ///< those that the command can use
  GivenValues on_top;  ///< those that were asked for, whether this command can use them or not
  std::vector<ThresholdSetting> thresholds;
  std::vector<Budget> budgets;
  std::vector<Suppression> suppressions;
  std::optional<std::string> config_file;  ///< the one that was read
};

/// Everything that is wrong, never empty.
using Errors = std::vector<Error>;

/// The rules, and `compare` for its thresholds: all that can be set.
std::vector<CatalogEntry> settable_catalog();

/// Reads the configuration file and the environment, and puts the command line on top: it counts more than the
/// environment, that more than the file, that more than defaults. Thresholds, budgets and suppressions add up; of
/// several about the same the one that counts more is taken. Errors: all those of the file, or the first one of
/// another place.
tl::expected<Settings, Errors> collect_settings(const CommandLine& line, const Surroundings& around);

/// The keys of a configuration file that stand for options.
std::vector<ConfigKey> config_keys();

}  // namespace doctor
