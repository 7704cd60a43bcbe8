#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command_line/command_table.h"
#include "command_line/option_table.h"

namespace doctor {

// Scripts that complete the command line in a shell, made from the tables of commands and options. Where they offer
// nothing of their own, the shell offers files.

std::string bash_completions();
std::string zsh_completions();
std::string fish_completions();

// What the scripts have in common.

/// The values that can be told beforehand: words, rules, thresholds up to their "=". None for the others.
std::vector<std::string> value_candidates(const OptionEntry& option);

/// Whether the value is a file; else only value_candidates() are offered.
bool takes_file(const OptionEntry& option);

/// The same for an argument; a trace has none, because it is a file.
std::vector<std::string> argument_candidates(const ArgumentEntry& argument);

/// "-o", "--output": every spelling of every option that takes a value.
std::vector<std::string> flags_with_value();

std::string join(const std::vector<std::string>& words, std::string_view between);

/// In single quotes, so that a POSIX shell takes it as it stands.
std::string shell_quoted(std::string_view text);

}  // namespace doctor
