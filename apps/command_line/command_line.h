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

/// Reads the command line, without the program's name, and what its surroundings say. Without a command it is
/// `diagnose`. Errors: anything that is not understood, with the nearest name that would be.
tl::expected<std::variant<Request, Answer>, Errors> parse_command_line(std::vector<std::string> arguments,
                                                                       const Surroundings& around);

}  // namespace doctor
