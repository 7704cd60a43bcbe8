#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace doctor {

/// What may follow on a command line: `words` are those after the program's name, the last one as far as it is typed. A
/// line each: the word, a tab, what it means. The line ":files" says that a file may follow too. A word "=" joins its
/// neighbours, for bash cuts lines there; after "--option=" only the value is offered.
std::string completions_of(const std::vector<std::string>& words);

/// The script that asks `tfdata-doctor complete` in a shell: "bash", "zsh" or "fish".
std::string completion_script(std::string_view shell);

}  // namespace doctor
