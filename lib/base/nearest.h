#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace doctor {

/// Tests whether the whole text matches the pattern: `*` is any number of bytes, `?` is one byte. The time is at most
/// proportional to the product of both lengths.
bool matches_glob(std::string_view pattern, std::string_view text);

/// The name that `word` is probably a misspelling of; empty if none is near.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& names);

/// "did you mean 'tree'?" if a name is near, else "known are: tree, steps".
std::string suggestion(std::string_view word, const std::vector<std::string_view>& names);

/// The names in the order of how near they are to `word`; those that are equally near stay in their order.
std::vector<std::string_view> by_nearness(std::string_view word, std::vector<std::string_view> names);

}  // namespace doctor
