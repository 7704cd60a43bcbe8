#include "command_line/command_line.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "base/try.h"
#include "command_line/help_pages.h"
#include "command_line/option_table.h"
#include "report/page.h"

namespace doctor {
namespace {

/// Position of the first argument that is neither an option nor the value of one; the size if there is none.
std::size_t first_plain_argument(const std::vector<std::string>& arguments) {
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const std::string& argument = arguments[index];
    if (argument == "--") return std::min(index + 1, arguments.size());
    if (argument.size() < 2 || argument.front() != '-') return index;
    const OptionEntry* const option = find_flag(argument);
    if (option != nullptr && option->kind != ValueKind::none) ++index;  // its value is not mistaken for the command
  }
  return arguments.size();
}

/// Whether a word in place of the command is a misspelt name of a command, not a file.
bool is_misspelt_command(const std::string& word) {
  struct stat ignored {};
  const bool may_be_path = word == "-" || word.find_first_of("/.") != std::string::npos;
  return !may_be_path && ::stat(word.c_str(), &ignored) != 0 && !nearest(word, command_names()).empty();
}

/// Puts the command first: the one that is named, else `diagnose`.
Result<void> put_command_first(std::vector<std::string>& arguments) {
  const std::size_t index = first_plain_argument(arguments);
  const bool is_after_dashes = index > 0 && index <= arguments.size() && arguments[index - 1] == "--";
  if (index < arguments.size() && !is_after_dashes) {
    const std::string word = arguments[index];
    if (find_command(word) != nullptr) {
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(index));
      arguments.insert(arguments.begin(), word);
      return {};
    }
    if (is_misspelt_command(word))
      return fail("no command or file '" + word + "'", {}, suggestion(word, command_names()));
  }
  const auto is_for_program = [](const std::string& argument) {
    return argument == "--help" || argument == "-h" || argument == "--version" || argument == "-V";
  };
  const bool is_answered = std::ranges::any_of(arguments, is_for_program);
  if (index < arguments.size() || !is_answered) arguments.insert(arguments.begin(), "diagnose");
  return {};
}

/// In `compare` the first "--" separates the sides; options may follow it. A second one ends the options, as in
/// other commands.
void mark_sides(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != entry_of(Command::compare).name) return;
  const auto dashes = std::ranges::find(arguments, "--");
  if (dashes != arguments.end()) *dashes = kBetweenSides;
}

/// A command as CLI11 reads it.
struct BoundCommand {
  const CommandEntry* entry = nullptr;
  CLI::App* app = nullptr;
  std::vector<std::pair<const OptionEntry*, CLI::Option*>> options;
  std::vector<std::pair<const ArgumentEntry*, CLI::Option*>> arguments;
};

/// An option, or an argument, with a value for each time that it is given.
CLI::Option* add_value(CLI::App& app, const std::string& names, bool repeats) {
  constexpr int kAnyNumber = -1;
  return app.add_option(names)->type_name("TEXT")->expected(1, repeats ? kAnyNumber : 1);
}

void bind_option(const OptionEntry& entry, BoundCommand& command) {
  const std::string names = entry.letter != '\0' ? fmt::format("-{},--{}", entry.letter, entry.name) : flag_of(entry);
  CLI::Option* const option = entry.kind == ValueKind::none
                                  ? command.app->add_flag(names)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                                  : add_value(*command.app, names, entry.repeats)->allow_extra_args(false);
  command.options.emplace_back(&entry, option);
}

void bind_argument(const ArgumentEntry& entry, BoundCommand& command) {
  std::string name(entry.name);
  std::erase(name, ' ');  // CLI11 2.4 refuses the space of "BASE... -- CANDIDATE"
  command.arguments.emplace_back(&entry, add_value(*command.app, name, entry.repeats)->allow_extra_args(entry.repeats));
}

void bind_command(const CommandEntry& entry, CLI::App& program, BoundCommand& command) {
  command.entry = &entry;
  command.app = program.add_subcommand(std::string(entry.name));
  command.app->allow_extras();
  for (const ArgumentEntry& argument : entry.arguments) bind_argument(argument, command);
  for (const OptionEntry* option : options_of(entry.command)) bind_option(*option, command);
}

/// There must be no arguments that the command does not take.
Result<void> check_extras(const BoundCommand& command) {
  std::vector<std::string> extras = command.app->remaining();
  extras.erase(std::remove(extras.begin(), extras.end(), "--"),
               extras.end());  // ends the options, and is not one itself
  if (extras.empty()) return {};
  const std::string& extra = extras.front();
  if (extra.front() != '-') return fail("unexpected argument '" + extra + "'", {}, "see 'tfdata-doctor --help'");
  std::vector<std::string> known = {"--help"};
  for (const OptionEntry* option : options_of(command.entry->command)) known.push_back(flag_of(*option));
  const std::string name = extra.substr(0, extra.find('='));
  const std::string_view near = nearest(name, {known.begin(), known.end()});
  const std::string_view command_name = command.entry->name;
  return fail(fmt::format("unknown option '{}' of {}", name, command_name), {},
              near.empty() ? fmt::format("see 'tfdata-doctor {} --help'", command_name)
                           : fmt::format("did you mean '{}'?", near));
}

Request take_values(const BoundCommand& command) {
  Request request;
  request.command = command.entry->command;
  for (const auto& [entry, argument] : command.arguments) {
    std::vector<std::string>& values = request.arguments[std::string(entry->name)];
    values = argument->results();
    if (!entry->repeats) std::erase(values, "");
  }
  for (const auto& [entry, option] : command.options) {
    for (const std::string& value : option->results()) request.values.add(entry->name, {value, flag_of(*entry)});
  }
  return request;
}

/// What is on the command line; the values are not checked yet.
Result<std::variant<Request, ReadyAnswer>> read_arguments(std::vector<std::string> arguments) {
  if (!arguments.empty() && arguments.front() == entry_of(Command::complete).name) {
    // Its words are a command line themselves.
    return Request{.command = Command::complete, .arguments = {{"WORD", {arguments.begin() + 1, arguments.end()}}}};
  }
  RETURN_IF_ERROR(put_command_first(arguments));
  mark_sides(arguments);
  CLI::App program;
  program.require_subcommand(0, 1);  // else a trace named like a command would be taken for one
  program.set_version_flag("-V,--version", "tfdata-doctor " DOCTOR_VERSION);
  // Only the one that is asked for: binding all their options takes longer than diagnosing a small trace.
  BoundCommand command;
  const CommandEntry* const entry = arguments.empty() ? nullptr : find_command(arguments.front());
  if (entry != nullptr) bind_command(*entry, program, command);
  const bool is_show = entry != nullptr && entry->command == Command::show;
  const auto named_page =
      std::ranges::find_if(arguments, [](const std::string& argument) { return find_page(argument) != nullptr; });
  const std::string page = is_show && named_page != arguments.end() ? *named_page : std::string();
  try {
    std::ranges::reverse(arguments);  // as CLI11 wants them
    program.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return ReadyAnswer{entry == nullptr ? program_help() : command_help(*entry, page)};
  } catch (const CLI::CallForVersion&) {
    return ReadyAnswer{program.version() + "\n"};
  } catch (const CLI::ParseError& error) {
    return fail(error.what(), {}, "see 'tfdata-doctor --help'");
  }
  if (entry == nullptr) return fail("no command given", {}, "see 'tfdata-doctor --help'");
  RETURN_IF_ERROR(check_extras(command));
  return take_values(command);
}

}  // namespace

tl::expected<std::variant<Request, ReadyAnswer>, Errors> parse_command_line(std::vector<std::string> arguments,
                                                                            const Surroundings& around) {
  Result<std::variant<Request, ReadyAnswer>> read = read_arguments(std::move(arguments));
  if (!read) return tl::unexpected(Errors{read.error()});
  if (Request* const request = std::get_if<Request>(&*read)) {
    if (tl::expected<void, Errors> added = add_settings(*request, around); !added) {
      return tl::unexpected(std::move(added.error()));
    }
  }
  return *std::move(read);
}

}  // namespace doctor
