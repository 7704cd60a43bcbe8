#include "command_line/help_pages.h"

#include <fmt/format.h>

#include "command_line/option_table.h"
#include "config/config.h"
#include "report/page.h"

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
  for (const std::string& line : wrapped(text, kPageWidth - column, /*breaks_words=*/false)) {
    lines += between + std::string(*between == '\0' ? 0 : column, ' ') + line;
    between = "\n";
  }
  return lines + "\n";
}

std::string paragraph_lines(std::string_view text) {
  std::string lines;
  for (const std::string& line : wrapped(text, kPageWidth, /*breaks_words=*/false)) lines += line + "\n";
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
  for (const Page* const page : pages()) {
    text += term_line(std::string(page->name), std::string(page->summary) + (page->rows != nullptr ? " (csv)" : ""));
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

/// Text that roff prints unchanged.
std::string roff(std::string_view text) {
  std::string result;
  if (!text.empty() && (text.front() == '.' || text.front() == '\'')) result = "\\&";
  for (const char letter : text) {
    if (letter == '\\') {
      result += "\\e";
    } else if (letter == '-') {
      result += "\\-";
    } else {
      result += letter;
    }
  }
  return result;
}

/// Running text in lines of at most 72 characters, which is what mandoc wants; roff fills them anew.
std::string paragraph(std::string_view text) {
  constexpr std::size_t kWidth = 72;
  std::string result;
  for (const std::string& line : wrapped(text, kWidth, /*breaks_words=*/false)) result += roff(line) + "\n";
  return result;
}

std::string section(std::string_view title) {
  return ".SH " + std::string(title) + "\n";
}

/// A term in bold, with `value` after it in italics, and what it is.
std::string entry(const std::string& term, std::string_view value, std::string_view text) {
  std::string head = ".TP\n\\fB" + roff(term) + "\\fR";
  if (!value.empty()) head += " \\fI" + roff(value) + "\\fR";
  return head + "\n" + paragraph(text);
}

std::string synopsis() {
  std::string text;
  for (const CommandEntry& command : command_table()) {
    if (command.is_hidden) continue;
    text += text.empty() ? section("SYNOPSIS") : ".br\n";
    const bool is_default = command.command == Command::diagnose;
    text += "\\fBtfdata\\-doctor\\fR ";
    text += is_default ? "[\\fBdiagnose\\fR]" : "\\fB" + roff(command.name) + "\\fR";
    text += " \\fI" + roff(command.usage) + "\\fR\n";
  }
  return text;
}

std::string commands() {
  std::string text = section("COMMANDS");
  for (const CommandEntry& command : command_table()) {
    if (command.is_hidden) continue;
    text += entry(std::string(command.name), {}, std::string(command.summary) + ".");
    if (command.command != Command::show) continue;
    text += ".RS\n";
    for (const Page* const page : pages()) text += entry(std::string(page->name), {}, page->summary);
    text += ".RE\n";
  }
  return text;
}

/// What each command exits with.
std::string exit_statuses() {
  std::string text = section("EXIT STATUS");
  for (const CommandEntry& command : command_table()) {
    if (command.is_hidden) continue;
    std::string meanings;
    for (const ExitMeaning& exit : command.exits) {
      meanings += fmt::format("{}{}: {}", meanings.empty() ? "" : "; ", exit.status, exit.meaning);
    }
    text += entry(std::string(command.name), {}, meanings + ".");
  }
  return text;
}

std::string examples() {
  std::string text = section("EXAMPLES");
  for (const CommandEntry& command : command_table()) {
    for (const CommandExample& example : command.examples) {
      text += entry("tfdata-doctor " + std::string(example.line), {}, std::string(example.meaning) + ".");
    }
  }
  return text;
}

/// "diagnose, explain".
std::string names_of(const CommandSet& set) {
  std::string names;
  for (const CommandEntry& command : command_table()) {
    if (set.has(command.command)) names += (names.empty() ? "" : ", ") + std::string(command.name);
  }
  return names;
}

std::string options() {
  std::string text = section("OPTIONS");
  text += paragraph("Flags take =false, as in --quiet=false, to override the environment or the configuration file.");
  for (const OptionEntry& option : option_table()) {
    std::string term = flag_of(option);
    if (option.letter != '\0') term.insert(0, fmt::format("-{}, ", option.letter));
    std::string help(option.help);
    help += ".";
    if (!option.default_text.empty()) help += " Default: " + std::string(option.default_text) + ".";
    text += entry(term, option.value_name, help + " Of: " + names_of(option.commands) + ".");
  }
  return text;
}

std::string environment() {
  std::string text = section("ENVIRONMENT");
  text += paragraph(
      "Options take precedence over variables, and variables over the configuration file. For options that may be "
      "repeated, a variable holds values separated by commas; for flags, true or false.");
  std::string last;
  for (const OptionEntry& option : option_table()) {
    if (!option.is_setting() || variable_of(option) == last) continue;
    last = variable_of(option);
    text += entry(last, {}, "As " + flag_of(option) + ".");
  }
  return text + entry("NO_COLOR", {}, "Not empty: no colours, unless --color says otherwise.") +
         entry("COLUMNS", {},
               "Width of text where the terminal does not say its own. Where neither does, as in files and pipes, "
               "tables are "
               "as wide as they need.");
}

std::string files() {
  return section("FILES") +
         entry(std::string(kConfigFileName), {},
               "Settings, thresholds, budgets and suppressions. The nearest one from the working directory upward is "
               "read; the search ends with the directory that holds .git. 'tfdata-doctor config show' prints what is "
               "in force and where it comes from.");
}

}  // namespace

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

std::string man_page() {
  std::string text = ".TH TFDATA\\-DOCTOR 1 " DOCTOR_DATE " \"tfdata\\-doctor " DOCTOR_VERSION "\"\n";
  text += section("NAME") + "tfdata\\-doctor \\- say what holds a tf.data input pipeline back\n";
  text += synopsis();
  text += section("DESCRIPTION") +
          paragraph(
              "Reads traces of TensorFlow's profiler (XSpace, Chrome trace JSON, TF1 timelines, gzipped or not) and "
              "says whether a job waits for its input, which transformation or source is to blame, and what to "
              "change. A trace is a file, - for standard input, the directory of a profiling run, or a TensorBoard "
              "log directory, of which the newest run is taken. Several files are hosts of one run.");
  text += commands() + options() + environment() + files();
  return text + exit_statuses() + examples();
}

}  // namespace doctor
