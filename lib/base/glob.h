#pragma once

#include <string_view>

namespace doctor {

/// Whether the whole text fits the pattern: `*` is any characters, or none, and `?` is one byte. Takes time
/// in proportion to the product of both lengths at most.
bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace doctor
