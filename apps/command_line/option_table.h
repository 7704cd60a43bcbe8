#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command_line/option_entry.h"

namespace doctor {

/// Tests whether the value is a number, a word or the like, and not an entry of a table of the configuration file.
bool is_plain(const OptionEntry& option);

/// All options, in the order in which help lists them.
std::span<const OptionEntry> option_table();

/// The options of one command alone, or of two similar ones: a part of the table in a file of its own.
std::span<const OptionEntry> command_options();

/// The options of a command, in that order.
std::vector<const OptionEntry*> options_of(Command command);

/// The option of that name (without the dashes) that the command takes; null if it takes none.
const OptionEntry* find_option(Command command, std::string_view name);

/// Tests whether a page of `show` takes the option.
bool is_for_page(const OptionEntry& option, std::string_view page);

/// The flag of an option: "--fail-on".
std::string flag_of(const OptionEntry& option);

/// The environment variable that sets an option: "TFDATA_DOCTOR_FAIL_ON".
std::string variable_of(const OptionEntry& option);

}  // namespace doctor
