#include "command_line/command_line.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "base/nearest.h"
#include "command_line/help_text.h"
#include "command_line/option_table.h"
#include "pages.h"

namespace doctor {
namespace {

/// CLI11's help with usage lines that show what people type.
class HelpPage : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    const bool is_program = app->get_parent() == nullptr;
    return is_program ? program_usage() : CLI::Formatter::make_usage(app, name);
  }
};

/// Whether an option's next argument is its value: that is not mistaken for the command.
bool takes_next_argument(const std::string& argument) {
  const std::span<const OptionEntry> options = option_table();
  return std::any_of(options.begin(), options.end(), [&](const OptionEntry& option) {
    const bool is_letter = option.letter != '\0' && argument == std::string("-") + option.letter;
    return option.kind != ValueKind::none && (is_letter || argument == flag_of(option));
  });
}

/// Position of the first argument that is neither an option nor the value of one; the size if there is none.
std::size_t first_plain_argument(const std::vector<std::string>& arguments) {
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const std::string& argument = arguments[index];
    if (argument == "--") return std::min(index + 1, arguments.size());
    if (argument.size() < 2 || argument.front() != '-') return index;
    if (takes_next_argument(argument)) ++index;
  }
  return arguments.size();
}

/// Whether a word in place of the command is a slip of a command's name and no file.
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
    const std::vector<std::string_view> names = command_names();
    const std::string word = arguments[index];
    if (std::find(names.begin(), names.end(), word) != names.end()) {
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(index));
      arguments.insert(arguments.begin(), word);
      return {};
    }
    if (is_misspelt_command(word)) return fail("no command or file '" + word + "'", {}, suggestion(word, names));
  }
  const auto is_for_program = [](const std::string& argument) {
    return argument == "--help" || argument == "-h" || argument == "--version";
  };
  const bool is_answered = std::any_of(arguments.begin(), arguments.end(), is_for_program);
  if (index < arguments.size() || !is_answered) arguments.insert(arguments.begin(), "diagnose");
  return {};
}

/// In `compare` the first "--" stands between the sides; options may follow it. A second one ends the options, as in
/// other commands.
void mark_sides(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != entry_of(Command::compare).name) return;
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) *dashes = kBetweenSides;
}

/// A command as CLI11 reads it, with what it puts where.
struct BoundCommand {
  struct BoundOption {
    const OptionEntry* entry;
    CLI::Option* option;
    std::vector<std::string> values;
  };
  struct BoundArgument {
    const ArgumentEntry* entry;
    std::vector<std::string> values;
    std::string value;  ///< of one that does not repeat: CLI11 lets a vector take all that follows
  };

  const CommandEntry* entry = nullptr;
  CLI::App* app = nullptr;
  std::deque<BoundOption> options;  // CLI11 holds the addresses
  std::deque<BoundArgument> arguments;
};

void bind_option(const OptionEntry& entry, BoundCommand& command) {
  const std::string names = entry.letter != '\0' ? fmt::format("-{},--{}", entry.letter, entry.name) : flag_of(entry);
  BoundCommand::BoundOption& bound = command.options.emplace_back(BoundCommand::BoundOption{&entry, nullptr, {}});
  if (entry.kind == ValueKind::none) {
    bound.option = command.app->add_flag(names, bound.values, std::string(entry.help));
    return;
  }
  bound.option = command.app->add_option(names, bound.values, std::string(entry.help));
  bound.option->type_name(std::string(entry.value_name))->allow_extra_args(false);
  if (!entry.repeats) bound.option->expected(1);
  if (!entry.default_text.empty()) bound.option->default_str(std::string(entry.default_text));
}

void bind_argument(const ArgumentEntry& entry, BoundCommand& command) {
  BoundCommand::BoundArgument& bound = command.arguments.emplace_back(BoundCommand::BoundArgument{&entry, {}, {}});
  const std::string name(entry.name);
  const std::string help = entry.kind == ArgumentKind::page ? page_help() : std::string(entry.help);
  (entry.repeats ? command.app->add_option(name, bound.values, help) : command.app->add_option(name, bound.value, help))
      ->type_name("");
}

void bind_command(const CommandEntry& entry, CLI::App& program, BoundCommand& command) {
  command.entry = &entry;
  command.app = program.add_subcommand(std::string(entry.name), std::string(entry.summary));
  command.app->allow_extras();
  command.app->footer(std::string(kHelpFooter));
  for (const ArgumentEntry& argument : entry.arguments) bind_argument(argument, command);
  for (const OptionEntry* option : options_of(entry.command)) bind_option(*option, command);
}

/// Arguments that the command does not know.
Result<void> check_extras(const BoundCommand& command) {
  std::vector<std::string> extras = command.app->remaining();
  extras.erase(std::remove(extras.begin(), extras.end(), "--"), extras.end());  // ends the options, is none itself
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

CommandLine take_values(const BoundCommand& command) {
  CommandLine line;
  line.command = command.entry->command;
  for (const BoundCommand::BoundArgument& argument : command.arguments) {
    std::vector<std::string>& values = line.arguments[std::string(argument.entry->name)];
    values = argument.values;
    if (!argument.value.empty()) values.push_back(argument.value);
  }
  for (const BoundCommand::BoundOption& option : command.options) {
    if (option.option->count() == 0) continue;
    const std::string flag = flag_of(*option.entry);
    for (const std::string& value : option.values) line.values.add(option.entry->name, {value, flag});
  }
  return line;
}

}  // namespace

Result<std::variant<CommandLine, Answer>> read_command_line(std::vector<std::string> arguments) {
  if (const Result<void> ordered = put_command_first(arguments); !ordered) return Unexpected(ordered.error());
  mark_sides(arguments);
  CLI::App program("Reads TensorFlow profiler traces and says what holds a tf.data input pipeline back.",
                   "tfdata-doctor");
  program.require_subcommand(0, 1);  // else a trace named like a command would be taken for one
  program.formatter(std::make_shared<HelpPage>());
  program.set_version_flag("--version", "tfdata-doctor " DOCTOR_VERSION);
  program.footer("'tfdata-doctor COMMAND --help' lists the options of a command.\n\n" + std::string(kHelpFooter));
  std::deque<BoundCommand> commands;
  for (const CommandEntry& entry : command_table()) bind_command(entry, program, commands.emplace_back());
  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    program.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return Answer{program.help()};
  } catch (const CLI::CallForVersion&) {
    return Answer{program.version() + "\n"};
  } catch (const CLI::ParseError& error) {
    return fail(error.what(), {}, "see 'tfdata-doctor --help'");
  }
  const auto parsed =
      std::find_if(commands.begin(), commands.end(), [](const BoundCommand& command) { return command.app->parsed(); });
  if (parsed == commands.end()) return fail("no command given", {}, "see 'tfdata-doctor --help'");
  if (const Result<void> known = check_extras(*parsed); !known) return Unexpected(known.error());
  return take_values(*parsed);
}

}  // namespace doctor
