#pragma once

#include <span>

#include "command_line/option_table.h"

namespace doctor {

// Parts of the table of options: what one command alone knows, or two of a kind. In the order in which help lists them.

std::span<const OptionEntry> comparison_options();
std::span<const OptionEntry> batch_options();
std::span<const OptionEntry> page_options();  ///< of show
std::span<const OptionEntry> query_options();

}  // namespace doctor
