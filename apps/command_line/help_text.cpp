#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command_line/help_pages.h"
#include "command_line/option_table.h"
#include "pages.h"

namespace doctor {
namespace {

constexpr std::size_t kPageWidth = 80;
constexpr std::size_t kTermWidth = 30;  // longer ones have a line of their own
constexpr std::size_t kIndent = 2;

/// What most people need, by what they want to do.
struct UsualCommand {
  std::string_view purpose;  ///< of the rows up to the next one that has a purpose
  Command command;
  std::string_view summary;
};
constexpr std::array<UsualCommand, 5> kUsualCommands = {{
    {"Diagnose", Command::diagnose, "what holds the input back (also without its name)"},
    {"Look closer", Command::show, "the numbers: pace, tree, timeline, ops, calls, ..."},
    {"", Command::whatif, "what each change would bring"},
    {"Gate", Command::compare, "whether new recordings are slower, and where"},
    {"Many traces", Command::batch, "a row of results for each trace"},
}};
constexpr std::array<CommandExample, 3> kUsualExamples = {{
    {"logs/", "the newest run of a log directory"},
    {"whatif host.xplane.pb", "what to change, best first"},
    {"compare base/ -- candidate/", "in CI: is it slower?"},
}};

/// "  TERM      text", the text wrapped beside the term.
std::string term_line(const std::string& term, std::string_view text, std::size_t width = kTermWidth) {
  const std::size_t column = kIndent + width;
  std::string lines = std::string(kIndent, ' ') + term;
  const bool is_beside = term.size() + 2 <= width;
  lines += is_beside ? std::string(width - term.size(), ' ') : "\n" + std::string(column, ' ');
  const char* between = "";
  for (const std::string_view line : wrapped(text, kPageWidth - column)) {
    lines += between + std::string(*between == '\0' ? 0 : column, ' ') + std::string(line);
    between = "\n";
  }
  return lines + "\n";
}

std::string paragraph_lines(std::string_view text) {
  std::string lines;
  for (const std::string_view line : wrapped(text, kPageWidth)) lines += std::string(line) + "\n";
  return lines;
}

std::string usage_of(const CommandEntry& command) {
  const bool is_default = command.command == Command::diagnose;
  const std::string name = is_default ? fmt::format("[{}]", command.name) : std::string(command.name);
  return fmt::format("tfdata-doctor {} {}", name, command.usage);
}

std::string option_line(const OptionEntry& option) {
  std::string term = option.letter == '\0' ? "    " : fmt::format("-{}, ", option.letter);
  term += flag_of(option);
  if (!option.value_name.empty()) term += " " + std::string(option.value_name);
  std::string text(option.help);
  if (!option.default_text.empty()) text += fmt::format(" (default: {})", option.default_text);
  return term_line(term, text);
}

/// Options that few commands take say what this one is about; those of nearly all come last.
std::vector<const OptionEntry*> own_options_first(Command command) {
  constexpr int kFew = 3;  // commands
  std::vector<const OptionEntry*> options = options_of(command);
  std::stable_partition(options.begin(), options.end(),
                        [](const OptionEntry* option) { return option->commands.size() <= kFew; });
  return options;
}

std::string arguments_part(const CommandEntry& command) {
  std::string text = "\nArguments:\n";
  for (const ArgumentEntry& argument : command.arguments) {
    text += term_line(std::string(argument.name) + (argument.repeats ? "..." : ""), argument.help);
  }
  if (command.command != Command::show) return command.arguments.empty() ? std::string() : text;
  text += "\nPages:\n";
  for (const Page& page : pages()) {
    const std::vector<OutputFormat> formats = page.formats();
    const bool has_csv = std::find(formats.begin(), formats.end(), OutputFormat::csv) != formats.end();
    text += term_line(std::string(page.name), std::string(page.summary) + (has_csv ? " (csv)" : ""));
  }
  return text;
}

std::string examples_part(const CommandEntry& command) {
  std::size_t width = 0;
  for (const CommandExample& example : command.examples) width = std::max(width, example.line.size());
  std::string text = "\nExamples:\n";
  for (const CommandExample& example : command.examples) {
    text += fmt::format("  tfdata-doctor {:<{}}  {}\n", example.line, width, example.meaning);
  }
  return text;
}

std::string exits_part(const CommandEntry& command) {
  constexpr std::size_t kStatusWidth = 4;
  std::string text = "\nExit status:\n";
  for (const ExitMeaning& exit : command.exits) {
    text += term_line(std::to_string(exit.status), exit.meaning, kStatusWidth);
  }
  return text;
}

}  // namespace

std::vector<std::string_view> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > width) {
      end = text.rfind(' ', width);
      if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
    }
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string program_help() {
  std::string text =
      "Says what holds a tf.data input pipeline back, from TensorFlow profiler traces,\nand what to change.\n\n"
      "Usage: tfdata-doctor [COMMAND] [OPTIONS] TRACE...\n\n";
  for (const UsualCommand& usual : kUsualCommands) {
    text += fmt::format("{:<13}{:<10}{}\n", usual.purpose, entry_of(usual.command).name, usual.summary);
  }
  text += "\nExamples:\n";
  for (const CommandExample& example : kUsualExamples) {
    text += fmt::format("  tfdata-doctor {:<28}  {}\n", example.line, example.meaning);
  }
  return text +
         "\nTRACE is a file (*.xplane.pb, *.trace.json, timeline_*.json, gzipped or not),\n"
         "the directory of a run, a TensorBoard log directory, or - for standard input.\n\n"
         "  tfdata-doctor help all            all commands\n"
         "  tfdata-doctor COMMAND --help      arguments, options and exit statuses of one\n";
}

std::string all_commands_help() {
  std::string text = "Usage:\n";
  for (const CommandEntry& command : command_table()) {
    if (!command.is_hidden) text += "  " + usage_of(command) + "\n";
  }
  text += "\nCommands:\n";
  for (const CommandEntry& command : command_table()) {
    if (!command.is_hidden) text += term_line(std::string(command.name), command.summary, 13);
  }
  return text + "\nOptions:\n" + term_line("-h, --help", "Print the help of the program, or of the command", 17) +
         term_line("-V, --version", "Print the version", 17) + "\n" +
         paragraph_lines(entry_of(Command::diagnose).notes);
}

std::string command_help(const CommandEntry& command, std::string_view page) {
  std::string text = std::string(command.summary) + ".\n\nUsage:\n  " + usage_of(command) + "\n";
  text += arguments_part(command) + "\nOptions:\n" + term_line("-h, --help", "Print this help");
  for (const OptionEntry* option : own_options_first(command.command)) {
    if (!page.empty() && !is_for_page(*option, page)) continue;
    OptionEntry shown = *option;
    const bool has_own_formats = option->name == "format" && find_page(page) != nullptr;
    const std::string formats = has_own_formats ? describe_formats(formats_of(command, page), {}) : std::string();
    if (has_own_formats) shown.help = formats;
    text += option_line(shown);
  }
  if (!command.examples.empty()) text += examples_part(command);
  if (!command.notes.empty()) text += "\n" + paragraph_lines(command.notes);
  return command.exits.empty() ? text : text + exits_part(command);
}

}  // namespace doctor
