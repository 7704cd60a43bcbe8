#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "command_line/command_table.h"

namespace doctor {

/// The page of `tfdata-doctor --help`: how the program is called, and its commands.
std::string program_help();

/// The page of `COMMAND --help`: usage, arguments, options, examples, exit statuses. With the name of a page of `show`,
/// only the options that this page takes.
std::string command_help(const CommandEntry& command, std::string_view page = {});

/// The text in lines of at most `width` characters, cut at blanks; a longer word has a line of its own.
std::vector<std::string_view> wrapped(std::string_view text, std::size_t width);

}  // namespace doctor
