#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "command_line/command_table.h"
#include "command_line/given_values.h"

namespace doctor {

/// What is around the program and may change what it does. A value, so that tests need none of it.
struct Surroundings {
  std::function<std::optional<std::string>(const std::string& name)> variable;  ///< of the environment
  std::string directory;                                                        ///< the working directory
  std::chrono::year_month_day today;                                            ///< in UTC
};

/// Those of this process.
Surroundings surroundings();

/// What the environment says about the options of the command. An empty variable is none; values of an option that
/// repeats are separated by commas. Errors: a value that no command can take.
Result<GivenValues> read_environment(Command command, const Surroundings& around);

}  // namespace doctor
