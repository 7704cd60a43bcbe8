#pragma once

#include <string>

namespace doctor {

/// The table of all settings in docs/configuration.md, as Markdown: key, option, variable, default, meaning.
std::string settings_table();

}  // namespace doctor
