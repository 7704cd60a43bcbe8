#include "command_line/completion.h"

namespace doctor {
namespace {

constexpr std::string_view kHead = R"(# fish completion for tfdata-doctor, printed by 'tfdata-doctor completions fish'

# The command and how many arguments follow it: "none 0", "show 1".
function __tfdata_doctor_state
  set -l words (commandline -opc)
  set -e words[1]
  set -l command none
  set -l plain 0
  set -l is_value no
  for word in $words
    if test $is_value = yes
      set is_value no
      continue
    end
    switch $word
)";

constexpr std::string_view kTail = R"(      case '-*'
      case '*'
        if test $command != none
          set plain (math $plain + 1)
        else if contains -- $word $__tfdata_doctor_commands
          set command $word
        else
          set command diagnose
          set plain 1
        end
    end
  end
  echo $command
  echo $plain
end

# Whether the command is one of those named; "none": not there yet.
function __tfdata_doctor_is
  set -l state (__tfdata_doctor_state)
  contains -- $state[1] $argv
end

# Whether this argument of the command comes next.
function __tfdata_doctor_wants
  set -l state (__tfdata_doctor_state)
  test "$state" = "$argv"
end

)";

constexpr std::string_view kComplete = "complete -c tfdata-doctor -n ";

std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + "'";
}

/// Before a command stands there, options are those of the default one.
std::string condition_of(const CommandEntry& command) {
  const std::string besides = command.command == Command::diagnose ? " none" : "";
  return fish_quoted("__tfdata_doctor_is " + std::string(command.name) + besides);
}

std::string option_line(const CommandEntry& command, const OptionEntry& option) {
  std::string line = std::string(kComplete) + condition_of(command) + " -l " + std::string(option.name);
  if (option.letter != '\0') line += std::string(" -s ") + option.letter;
  if (option.kind != ValueKind::none) {
    line += takes_file(option) ? " -rF" : " -x";
    const std::vector<std::string> candidates = value_candidates(option);
    if (!candidates.empty()) line += " -a " + fish_quoted(join(candidates, " "));
  }
  return line + " -d " + fish_quoted(option.help) + "\n";
}

}  // namespace

std::string fish_completions() {
  std::string script(kHead);
  script += "      case " + join(flags_with_value(), " ") + "\n        set is_value yes\n";
  script += kTail;
  script += "set -g __tfdata_doctor_commands";
  for (const std::string_view name : command_names()) script += " " + std::string(name);
  script += "\n\n";
  for (const CommandEntry& command : command_table()) {
    script += std::string(kComplete) + "'__tfdata_doctor_is none' -a " + std::string(command.name) + " -d " +
              fish_quoted(command.summary) + "\n";
    script += std::string(kComplete) + condition_of(command) + " -l help -s h -d 'Print help'\n";
    for (std::size_t position = 0; position < command.arguments.size(); ++position) {
      const std::vector<std::string> candidates = argument_candidates(command.arguments[position]);
      if (candidates.empty()) continue;
      script += std::string(kComplete) +
                fish_quoted("__tfdata_doctor_wants " + std::string(command.name) + " " + std::to_string(position)) +
                " -f -a " + fish_quoted(join(candidates, " ")) + "\n";
    }
    for (const OptionEntry* option : options_of(command.command)) script += option_line(command, *option);
  }
  return script + std::string(kComplete) + "'__tfdata_doctor_is none' -l version -d 'Print the version'\n";
}

}  // namespace doctor
