#include <sys/stat.h>

#include "command_line/command_line.h"
#include "command_line/help_pages.h"
#include "command_line/option_table.h"
#include "command_line/request.h"
#include "io/trace_inputs.h"

namespace doctor {
namespace {

/// Words that fit what is typed.
class Offer {
 public:
  explicit Offer(std::string typed) : typed_(std::move(typed)) {}

  void add(std::string_view word, std::string_view meaning = {}) {
    if (!word.starts_with(typed_)) return;
    lines_ += word;
    if (!meaning.empty()) (lines_ += '\t') += meaning;
    lines_ += '\n';
  }
  void add_files() { lines_ += ":files\n"; }
  std::string take() { return std::move(lines_); }

 private:
  std::string typed_;
  std::string lines_;
};

/// A line as far as it is typed.
struct TypedLine {
  const CommandEntry* command = nullptr;  ///< null: none yet
  std::vector<std::string> arguments;     ///< after the command
  const OptionEntry* waiting = nullptr;   ///< the option whose value comes next
  bool has_dashes = false;                ///< whether "--" came
  std::vector<std::string_view> flags;    ///< options without a value that came
};

void take_word(const std::string& word, TypedLine& line) {
  if (line.waiting != nullptr) {
    line.waiting = nullptr;
  } else if (word == "--") {
    line.has_dashes = true;
  } else if (word.size() > 1 && word.front() == '-') {
    const OptionEntry* const option = find_flag(word, line.command);
    if (option != nullptr && option->kind != ValueKind::none) line.waiting = option;
    if (option != nullptr && option->kind == ValueKind::none) line.flags.push_back(option->name);
  } else if (line.command == nullptr && !line.has_dashes && find_command(word) != nullptr) {
    line.command = find_command(word);
  } else {
    if (line.command == nullptr) line.command = &entry_of(Command::diagnose);
    line.arguments.push_back(word);
  }
}

void offer_rules(Offer& offer) {
  for (const CatalogEntry& entry : settable_catalog()) offer.add(entry.rule.id);
}

void offer_thresholds(Offer& offer) {
  for (const CatalogEntry& entry : settable_catalog()) {
    for (const Threshold& threshold : entry.rule.thresholds) {
      offer.add(std::string(entry.rule.id) + "." + std::string(threshold.name) + "=", threshold.meaning);
    }
  }
}

/// The runs of the log directories that were named before.
void offer_runs(const TypedLine& line, Offer& offer) {
  for (const std::string& argument : line.arguments) {
    struct stat status {};
    if (::stat(argument.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    const Result<std::vector<Run>> runs = list_runs(argument);
    if (!runs) continue;
    for (const Run& run : *runs) offer.add(run.name);
  }
}

void offer_formats(Command command, const TypedLine& line, Offer& offer) {
  const OptionEntry* const option = find_option(command, "format");
  if (option == nullptr) return;
  if (entry_of(command).formats.empty() && command != Command::show) {  // those of events
    for (const std::string_view word : option->words) offer.add(word);
    return;
  }
  Request request = {.command = command};
  const std::vector<ArgumentEntry>& arguments = entry_of(command).arguments;
  if (!arguments.empty() && arguments.front().kind == ArgumentKind::word && !line.arguments.empty()) {
    request.arguments[std::string(arguments.front().name)] = {line.arguments.front()};
  }
  for (const std::string_view flag : line.flags) request.values.add(flag, {"true", {}});
  for (const OutputFormat format : formats_of(request)) offer.add(to_word(format));
}

/// `option` is of no command yet: then of the default one.
void offer_values(const OptionEntry& option, const TypedLine& line, Offer& offer) {
  const Command command = line.command == nullptr ? Command::diagnose : line.command->command;
  const OptionEntry* const own = find_option(command, option.name);
  const OptionEntry& entry = own == nullptr ? option : *own;
  switch (entry.kind) {
    case ValueKind::word:
      if (entry.name == "format") return offer_formats(command, line, offer);
      for (const std::string_view word : entry.words) offer.add(word);
      break;
    case ValueKind::threshold:
      return offer_thresholds(offer);
    case ValueKind::rule_budget:
    case ValueKind::suppression:
      return offer_rules(offer);
    case ValueKind::fix:
      for (const std::string_view kind : fix_kinds()) offer.add(kind);
      break;
    case ValueKind::run:
      return offer_runs(line, offer);
    case ValueKind::file: {
      // "[FORMAT=]FILE".
      const OptionEntry* const format = entry.repeats ? find_option(command, "format") : nullptr;
      if (format != nullptr && entry.name == "output") {
        for (const std::string_view word : format->words) offer.add(std::string(word) + "=");
      }
      return offer.add_files();
    }
    default:
      break;
  }
}

void offer_options(const TypedLine& line, Offer& offer) {
  const CommandEntry& command = line.command == nullptr ? entry_of(Command::diagnose) : *line.command;
  offer.add("--help", "Print help");
  if (line.command == nullptr) offer.add("--version", "Print the version");
  for (const OptionEntry* option : options_of(command.command)) {
    offer.add(flag_of(*option), option->help);
    if (option->letter != '\0') offer.add(std::string("-") + option->letter, option->help);
  }
}

void offer_commands(Offer& offer) {
  for (const CommandEntry& command : command_table()) {
    if (!command.is_hidden) offer.add(command.name, command.summary);
  }
}

void offer_arguments(const TypedLine& line, Offer& offer) {
  if (line.command == nullptr) {
    if (!line.has_dashes) offer_commands(offer);
    return offer.add_files();
  }
  if (line.command->command == Command::help) return offer_commands(offer);
  const std::vector<ArgumentEntry>& arguments = line.command->arguments;
  const std::size_t position = line.arguments.size();
  const bool is_last = position >= arguments.size();
  if (arguments.empty() || (is_last && !arguments.back().repeats)) return;
  const ArgumentEntry& argument = is_last ? arguments.back() : arguments[position];
  for (const std::string_view word : argument.words) offer.add(word);
  if (argument.kind == ArgumentKind::rule) offer_rules(offer);
  if (argument.kind == ArgumentKind::path) offer.add_files();
}

/// Undoes what bash does to "--format=json".
std::vector<std::string> joined_at_equals(const std::vector<std::string>& words) {
  std::vector<std::string> joined;
  bool is_open = false;
  for (const std::string& word : words) {
    const bool is_equals = word == "=" && !joined.empty();
    if (is_equals || is_open) {
      joined.back() += word;
    } else {
      joined.push_back(word);
    }
    is_open = is_equals;
  }
  return joined;
}

}  // namespace

std::string completions_of(const std::vector<std::string>& words) {
  std::vector<std::string> typed = joined_at_equals(words);
  const std::string last = typed.empty() ? std::string() : typed.back();
  if (!typed.empty()) typed.pop_back();
  TypedLine line;
  for (const std::string& word : typed) take_word(word, line);

  const std::size_t equals = last.find('=');
  const bool is_option = line.waiting == nullptr && !line.has_dashes && last.starts_with("-");
  const OptionEntry* option = line.waiting;
  if (is_option && equals != std::string::npos) option = find_flag(last.substr(0, equals), line.command);
  Offer offer(is_option && equals != std::string::npos ? last.substr(equals + 1) : last);
  if (option != nullptr) {
    offer_values(*option, line, offer);
  } else if (is_option) {
    offer_options(line, offer);
  } else {
    offer_arguments(line, offer);
  }
  return offer.take();
}

std::string completion_script(std::string_view shell) {
  return std::string(shell == "bash" ? kBashCompletion : shell == "zsh" ? kZshCompletion : kFishCompletion);
}

}  // namespace doctor
