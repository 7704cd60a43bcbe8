#pragma once

#include <span>

#include "command_line/option_entry.h"

namespace doctor {

// Parts of the table of options: those of one command alone, or of two of a kind. In the order in which help lists
// them.

std::span<const OptionEntry> capture_options();
std::span<const OptionEntry> comparison_options();
std::span<const OptionEntry> batch_options();
std::span<const OptionEntry> page_options();  ///< of show
std::span<const OptionEntry> whatif_options();
std::span<const OptionEntry> query_options();

}  // namespace doctor
