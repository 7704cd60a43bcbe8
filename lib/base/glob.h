#pragma once

#include <string_view>

namespace doctor {

/// Whether the whole text fits the pattern: `*` stands for any characters, none too, and `?` for one byte. Takes time
/// in proportion to the product of both lengths at most.
bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace doctor
