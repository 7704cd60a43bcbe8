#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diagnose/budget.h"
#include "diagnose/catalog.h"
#include "diagnose/suppression.h"
#include "diagnose/threshold_settings.h"

namespace doctor {

/// The name of a configuration file.
inline constexpr std::string_view kConfigFileName = ".tfdata-doctor.toml";

/// What TOML must hold for a key.
enum class ConfigType {
  boolean,
  integer,
  number,  ///< 2 or 1.5
  text,
  integer_or_text,  ///< a size: 500000000 or "512M"
};

/// A key of the top level: it is an option of the command line.
struct ConfigKey {
  std::string_view name;
  ConfigType type = ConfigType::text;
  /// Errors, located at `where`: the option cannot take the value.
  std::function<Result<void>(const std::string& value, const std::string& where)> check;
};

/// A key of the top level with its value, as it would be on the command line; a boolean is "true" or "false".
struct ConfigOption {
  std::string key;
  std::string value;
  std::string source;  ///< "/job/.tfdata-doctor.toml:12"
};

/// What a configuration file says.
struct Config {
  std::vector<ConfigOption> options;  ///< each key once
  std::vector<ThresholdSetting> thresholds;
  std::vector<Budget> budgets;
  std::vector<Suppression> suppressions;
};

/// What was read, and all that is wrong with it, in the order of the lines. With an error nothing of it should be used.
struct ConfigReading {
  Config config;
  std::vector<Error> errors;  ///< `where` is "path:line:column"
};

/// Reads the bytes of a configuration file; `path` is for messages. Total: whatever is wrong becomes an error.
ConfigReading read_config(std::string_view bytes, const std::string& path, std::span<const ConfigKey> keys,
                          std::span<const CatalogEntry> catalog);

}  // namespace doctor
