#pragma once

#include <string>

namespace doctor {

/// The manual page in the macros of man(7), made from the tables of commands and options.
std::string man_page();

}  // namespace doctor
