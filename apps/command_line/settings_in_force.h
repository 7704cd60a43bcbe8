#pragma once

#include <string>
#include <variant>
#include <vector>

#include "command_line/request.h"

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

}  // namespace doctor
