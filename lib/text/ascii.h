#pragma once

#include <string>

namespace doctor {

/// Text for a terminal that shows ASCII alone, as wide as before: signs of charts become some of like weight, every
/// other character a "?" for each column that it takes.
std::string in_ascii(std::string text);

}  // namespace doctor
