#include <algorithm>

#include "command_line/completion.h"

namespace doctor {
namespace {

constexpr std::string_view kHead = R"(#compdef tfdata-doctor
# zsh completion for tfdata-doctor, printed by 'tfdata-doctor completions zsh'
_tfdata-doctor() {
  local cur=$words[CURRENT] prev=$words[CURRENT-1] command= plain=0 index
  local -a offered
  if [[ $cur == --*=* ]]; then
    prev=${cur%%=*}
    compset -P '--*='
  fi
  for ((index = 2; index < CURRENT; ++index)); do
    case $words[index] in
)";

constexpr std::string_view kLoop = R"(      -*) ;;
      *)
        if [[ -z $command ]]; then
          case $words[index] in
)";

constexpr std::string_view kValues = R"(            *) command=diagnose; plain=1 ;;
          esac
        else
          ((++plain))
        fi
        ;;
    esac
  done
  case ${command:-diagnose}:$prev in
)";

constexpr std::string_view kWords = R"(  esac
  if [[ $cur == -* ]]; then
    case ${command:-diagnose} in
)";

constexpr std::string_view kArguments = R"(    esac
    _describe -o option offered
    return
  fi
  case $command:$plain in
)";

constexpr std::string_view kTail = R"(  esac
  _files
}
# Sourced, it registers itself; found in $fpath, its first call is the first completion.
if [[ $funcstack[1] == _tfdata-doctor ]]; then
  _tfdata-doctor "$@"
else
  compdef _tfdata-doctor tfdata-doctor
fi
)";

/// "name:description", as _describe wants it.
std::string described(std::string_view name, std::string_view help) {
  std::string text;
  for (const char letter : name) text += letter == ':' ? std::string("\\:") : std::string(1, letter);
  return shell_quoted(text + ":" + std::string(help));
}

std::string values_of(const CommandEntry& command) {
  std::string lines;
  for (const OptionEntry* option : options_of(command.command)) {
    if (option->kind == ValueKind::none) continue;
    std::string pattern = std::string(command.name) + ":" + flag_of(*option);
    if (option->letter != '\0') pattern += "|" + std::string(command.name) + ":-" + option->letter;
    lines += "    " + pattern + ") ";
    std::vector<std::string> candidates = value_candidates(*option);
    const bool is_open = option->kind == ValueKind::threshold;
    std::transform(candidates.begin(), candidates.end(), candidates.begin(),
                   [](const std::string& word) { return shell_quoted(word); });
    if (!candidates.empty()) {
      lines += std::string("compadd ") + (is_open ? "-S '' " : "") + "-- " + join(candidates, " ") + "; ";
    } else {
      lines += takes_file(*option) ? "_files; " : "_message " + shell_quoted(option->value_name) + "; ";
    }
    lines += "return ;;\n";
  }
  return lines;
}

std::string flags_of(const CommandEntry& command) {
  std::string flags = described("--help", "Print help");
  if (command.command == Command::diagnose) flags += " " + described("--version", "Print the version");
  for (const OptionEntry* option : options_of(command.command)) {
    flags += " " + described(flag_of(*option), option->help);
    if (option->letter != '\0') flags += " " + described(std::string("-") + option->letter, option->help);
  }
  return "    " + std::string(command.name) + ") offered=(" + flags + ") ;;\n";
}

std::string arguments_of(const CommandEntry& command) {
  std::string lines;
  for (std::size_t position = 0; position < command.arguments.size(); ++position) {
    std::vector<std::string> candidates = argument_candidates(command.arguments[position]);
    if (candidates.empty()) continue;
    lines += "    " + std::string(command.name) + ":" + std::to_string(position) + ") compadd -- " +
             join(candidates, " ") + "; return ;;\n";
  }
  return lines;
}

}  // namespace

std::string zsh_completions() {
  std::string script(kHead);
  script += "      " + join(flags_with_value(), "|") + ") ((++index)) ;;\n";
  script += kLoop;
  std::string commands;
  for (const CommandEntry& command : command_table()) {
    script += "            " + std::string(command.name) + ") command=" + std::string(command.name) + " ;;\n";
    commands += (commands.empty() ? "" : " ") + described(command.name, command.summary);
  }
  script += kValues;
  for (const CommandEntry& command : command_table()) script += values_of(command);
  script += kWords;
  for (const CommandEntry& command : command_table()) script += flags_of(command);
  script += kArguments;
  script += "    :0) offered=(" + commands + "); _describe command offered; _files; return ;;\n";
  for (const CommandEntry& command : command_table()) script += arguments_of(command);
  return script + std::string(kTail);
}

}  // namespace doctor
