#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "command_line/command_table.h"
#include "command_line/given_values.h"

namespace doctor {

/// What stands on the command line, by the tables of commands and options. The values are not checked yet.
struct CommandLine {
  Command command = Command::diagnose;
  std::map<std::string, std::vector<std::string>, std::less<>> arguments;  ///< by ArgumentEntry::name
  GivenValues values;

  /// The argument of that name; empty if it is not there.
  std::string argument(std::string_view name) const {
    const auto found = arguments.find(name);
    return found == arguments.end() || found->second.empty() ? std::string() : found->second.front();
  }
};

/// Text that answers the command line by itself: help or version.
struct Answer {
  std::string text;
};

/// Reads the command line, without the program's name. Without a command it is `diagnose`. Errors: an option or
/// argument that is not known, with the nearest one that is; a value that is missing.
Result<std::variant<CommandLine, Answer>> read_command_line(std::vector<std::string> arguments);

}  // namespace doctor
