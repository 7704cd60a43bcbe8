#include <fmt/format.h>

#include <algorithm>

#include "command_line/help_pages.h"
#include "command_line/option_table.h"
#include "pages.h"

namespace doctor {
namespace {

constexpr std::size_t kPageWidth = 100;
constexpr std::size_t kTermWidth = 34;  // longer ones have a line of their own
constexpr std::size_t kIndent = 2;

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
  std::string text = "Reads TensorFlow profiler traces and says what holds a tf.data input pipeline back.\n\nUsage:\n";
  for (const CommandEntry& command : command_table()) {
    if (!command.is_hidden) text += "  " + usage_of(command) + "\n";
  }
  text += "\nCommands:\n";
  for (const CommandEntry& command : command_table()) {
    if (!command.is_hidden) text += term_line(std::string(command.name), command.summary, 13);
  }
  text += "\nOptions:\n" + term_line("-h, --help", "Print this help; after a command, that of the command", 17) +
          term_line("-V, --version", "Print the version", 17);
  const CommandEntry& usual = entry_of(Command::diagnose);
  return text + examples_part(usual) + "\n" + paragraph_lines(usual.notes) +
         "\n'tfdata-doctor COMMAND --help' lists the arguments, options and exit statuses of a command.\n";
}

std::string command_help(const CommandEntry& command, std::string_view page) {
  std::string text = std::string(command.summary) + ".\n\nUsage:\n  " + usage_of(command) + "\n";
  text += arguments_part(command) + "\nOptions:\n" + term_line("-h, --help", "Print this help");
  for (const OptionEntry* option : options_of(command.command)) {
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
