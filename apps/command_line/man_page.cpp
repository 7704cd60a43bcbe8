#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "command_line/command_table.h"
#include "command_line/help_pages.h"
#include "command_line/option_table.h"
#include "config/config.h"
#include "pages.h"

namespace doctor {
namespace {

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
  for (const std::string_view line : wrapped(text, kWidth)) result += roff(line) + "\n";
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
    for (const Page& page : pages()) text += entry(std::string(page.name), {}, page.summary);
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
