// Commands about the program itself: help, man, completions and what they complete with.

#include "base/nearest.h"
#include "base/try.h"
#include "command_line/help_pages.h"
#include "command_line/request.h"
#include "commands.h"
#include "process/output.h"

namespace doctor {

Result<int> run_help(const Request& request) {
  const std::string name = request.argument("COMMAND");
  if (name.empty()) return print_page(program_help(), {});
  if (name == "all") return print_page(all_commands_help(), {});
  const CommandEntry* const command = find_command(name);
  if (command == nullptr) return fail("no command '" + name + "'", {}, suggestion(name, command_names()));
  return print_page(command_help(*command), {});
}

Result<int> run_man(const Request& request) {
  return print_page(man_page(), request.text("output"));
}

Result<int> run_completions(const Request& request) {
  ASSIGN_OR_RETURN(const std::string shell, word_argument(request, "SHELL"));
  return print_page(completion_script(shell), request.text("output"));
}

Result<int> run_complete(const Request& request) {
  return print_page(completions_of(request.all("WORD")), {});
}

}  // namespace doctor
