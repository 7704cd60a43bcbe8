#include "command_line/completion.h"

namespace doctor {
namespace {

constexpr std::string_view kHead = R"(# bash completion for tfdata-doctor, printed by 'tfdata-doctor completions bash'
_tfdata_doctor() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= plain=0 index
  # Bash takes --format=json for three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((index = 1; index < COMP_CWORD; ++index)); do
    case ${COMP_WORDS[index]} in
)";

constexpr std::string_view kLoop = R"(      -*) ;;
      =) ((++index)) ;;
      *)
        if [[ -z $command ]]; then
          case ${COMP_WORDS[index]} in
)";

constexpr std::string_view kValues = R"(            *) command=diagnose; plain=1 ;;
          esac
        else
          ((++plain))
        fi
        ;;
    esac
  done
  local words=
  case ${command:-diagnose}:$prev in
)";

constexpr std::string_view kWords = R"(    *)
      if [[ $cur == -* ]]; then
        case ${command:-diagnose} in
)";

constexpr std::string_view kArguments = R"(        esac
      else
        case $command:$plain in
)";

constexpr std::string_view kTail = R"(        esac
      fi
      ;;
  esac
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words" -- "$cur")
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
complete -o bashdefault -o default -F _tfdata_doctor tfdata-doctor
)";

std::string words_line(std::string_view indent, const std::string& pattern, const std::vector<std::string>& words) {
  return std::string(indent) + pattern + ") words=" + shell_quoted(join(words, " ")) + " ;;\n";
}

std::string values_of(const CommandEntry& command) {
  std::string lines;
  for (const OptionEntry* option : options_of(command.command)) {
    if (option->kind == ValueKind::none) continue;
    std::string pattern = std::string(command.name) + ":" + flag_of(*option);
    if (option->letter != '\0') pattern += "|" + std::string(command.name) + ":-" + option->letter;
    const std::vector<std::string> candidates = value_candidates(*option);
    if (!candidates.empty()) {
      lines += words_line("    ", pattern, candidates);
    } else if (takes_file(*option)) {
      lines += "    " + pattern + ") ;;\n";
    } else {
      lines += "    " + pattern + ") compopt +o bashdefault +o default; COMPREPLY=(); return ;;\n";
    }
  }
  return lines;
}

std::vector<std::string> flags_of(const CommandEntry& command) {
  std::vector<std::string> flags = {"--help"};
  if (command.command == Command::diagnose) flags.emplace_back("--version");
  for (const OptionEntry* option : options_of(command.command)) {
    flags.push_back(flag_of(*option));
    if (option->letter != '\0') flags.push_back(std::string("-") + option->letter);
  }
  return flags;
}

}  // namespace

std::string bash_completions() {
  std::string script(kHead);
  // A value after "=" is a word of its own, and counted by its sign.
  script +=
      "      " + join(flags_with_value(), "|") + ")\n        [[ ${COMP_WORDS[index+1]} == = ]] || ((++index)) ;;\n";
  script += kLoop;
  for (const CommandEntry& command : command_table()) {
    script += "            " + std::string(command.name) + ") command=" + std::string(command.name) + " ;;\n";
  }
  script += kValues;
  for (const CommandEntry& command : command_table()) script += values_of(command);
  script += kWords;
  for (const CommandEntry& command : command_table()) {
    script += words_line("          ", std::string(command.name), flags_of(command));
  }
  script += kArguments;
  std::vector<std::string> commands;
  for (const std::string_view name : command_names()) commands.emplace_back(name);
  script += words_line("          ", ":0", commands);
  for (const CommandEntry& command : command_table()) {
    for (std::size_t position = 0; position < command.arguments.size(); ++position) {
      const std::vector<std::string> candidates = argument_candidates(command.arguments[position]);
      if (candidates.empty()) continue;
      script += words_line("          ", std::string(command.name) + ":" + std::to_string(position), candidates);
    }
  }
  return script + std::string(kTail);
}

}  // namespace doctor
