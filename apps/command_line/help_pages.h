#pragma once

#include "command_line/command_table.h"
#include "text/columns.h"

namespace doctor {

/// The page of `tfdata-doctor --help`: what the program is, and the commands that most people need. At most 24 lines.
std::string program_help();

/// The page of `tfdata-doctor help all`: every command.
std::string all_commands_help();

/// The page of `COMMAND --help`: usage, arguments, options, examples, exit statuses. With the name of a page of `show`,
/// only the options that this page takes.
std::string command_help(const CommandEntry& command, std::string_view page = {});

/// The manual page in the macros of man(7), made from the tables of commands and options.
std::string man_page();

/// The words that may follow on a command line. `words` are those after the program's name, the last one as far as it
/// is typed. The result has a line for each: the word, a tab, its meaning. The line ":files" says that a file may
/// follow too. A word "=" joins its neighbours, because bash splits lines there; after "--option=" only the value is
/// offered.
std::string completions_of(const std::vector<std::string>& words);

/// completion.bash, completion.zsh and completion.fish, which the build embeds.
extern const std::string_view kBashCompletion, kZshCompletion, kFishCompletion;

/// The script that asks `tfdata-doctor complete` in a shell: "bash", "zsh" or "fish".
std::string completion_script(std::string_view shell);

}  // namespace doctor
