#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace doctor {

/// The name that `word` is probably a misspelling of; empty if none is near.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& names);

/// "did you mean 'tree'?" if a name is near, else "known are: tree, steps".
std::string suggestion(std::string_view word, const std::vector<std::string_view>& names);

/// The names in the order of how near they are to `word`; those that are equally near stay in their order.
std::vector<std::string_view> by_nearness(std::string_view word, std::vector<std::string_view> names);

}  // namespace doctor
