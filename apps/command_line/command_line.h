#pragma once

#include <string>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "command_line/request.h"
#include "command_line/setting_sources.h"

namespace doctor {

/// Text that answers the command line by itself: help or version.
struct Answer {
  std::string text;
};

/// Parses the command line, without the program's name, together with the environment and the configuration file.
/// Without a command it is `diagnose`. Errors: anything that is not understood, with the nearest valid name.
tl::expected<std::variant<Request, Answer>, Errors> parse_command_line(std::vector<std::string> arguments,
                                                                       const Surroundings& around);

}  // namespace doctor
