#pragma once

#include "base/result.h"
#include "diagnose/budget.h"
#include "diagnose/catalog.h"
#include "diagnose/finding.h"
#include "diagnose/threshold_settings.h"

namespace doctor {

/// The path of the configuration file for work in `directory`: the nearest one from there upwards. The search ends with
/// the first directory that holds `.git`, so that files above a repository do not change its results; without one it
/// ends at the top. nullopt if there is none.
std::optional<std::string> find_config_file(const std::string& directory);

/// The bytes of a configuration file. Errors: it cannot be read, or is too large to be one.
Result<std::string> read_config_file(const std::string& path);

/// The name of a configuration file.
inline constexpr std::string_view kConfigFileName = ".tfdata-doctor.toml";

/// The TOML type that a key needs.
enum class ConfigType {
  boolean,
  integer,
  number,  ///< 2 or 1.5
  text,
  integer_or_text,  ///< a size: 500000000 or "512M"
};

/// A key of the top level, which is an option of the command line.
struct ConfigKey {
  std::string_view name;
  ConfigType type = ConfigType::text;
  /// Checks the value. Errors, located at `where`: the option cannot take it.
  std::function<Result<void>(const std::string& value, const std::string& where)> check;
};

/// A key of the top level with its value, written as on the command line; a boolean is "true" or "false".
struct ConfigOption {
  std::string key;
  std::string value;
  std::string source;  ///< "/job/.tfdata-doctor.toml:12"
};

/// The content of a configuration file.
struct Config {
  std::vector<ConfigOption> options;  ///< each key once
  std::vector<ThresholdSetting> thresholds;
  std::vector<Budget> budgets;
  std::vector<Suppression> suppressions;
};

/// The result of reading a file, and everything that is wrong with it, in the order of the lines. If there are errors,
/// nothing of it should be used.
struct ConfigReading {
  Config config;
  std::vector<Error> errors;  ///< `where` is "path:line:column"
};

/// Reads the bytes of a configuration file; `path` is for messages. It never fails: whatever is wrong becomes an error
/// in the result.
ConfigReading read_config(std::string_view bytes, const std::string& path, std::span<const ConfigKey> keys,
                          std::span<const CatalogEntry> catalog);

}  // namespace doctor
