#pragma once

#include <string_view>

namespace doctor {

/// Tests whether the whole text matches the pattern: `*` is any number of bytes, `?` is one byte. The time is at most
/// proportional to the product of both lengths.
bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace doctor
