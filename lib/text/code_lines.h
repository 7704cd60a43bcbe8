#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace doctor {

/// The columns that code takes beside the labels of a page of 80 columns. A narrower or wider terminal changes nothing:
/// code that is pasted has its line breaks.
inline constexpr std::size_t kCodeWidth = 68;

/// Lines of Python, each of at most `width` columns where it can be broken: inside of brackets, after a comma or an
/// opening bracket, and before a comment.
std::vector<std::string> code_lines(std::string_view code, std::size_t width);

}  // namespace doctor
