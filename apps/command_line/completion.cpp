#include "command_line/completion.h"

#include <algorithm>

#include "command_line/man_page.h"
#include "commands.h"
#include "diagnose/catalog.h"
#include "pages.h"
#include "process/exit_code.h"
#include "process/output.h"

namespace doctor {
namespace {

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (const CatalogEntry& entry : settable_catalog()) names.emplace_back(entry.rule.id);
  return names;
}

std::vector<std::string> threshold_names() {
  std::vector<std::string> names;
  for (const CatalogEntry& entry : settable_catalog()) {
    for (const Threshold& threshold : entry.rule.thresholds) {
      names.push_back(std::string(entry.rule.id) + "." + std::string(threshold.name) + "=");
    }
  }
  return names;
}

int write_text(const std::string& text, const Options& options) {
  const Result<void> written = write_output(text, options.output);
  if (written) return kExitClean;
  print_error(written.error());
  return kExitFailure;
}

}  // namespace

std::vector<std::string> value_candidates(const OptionEntry& option) {
  switch (option.kind) {
    case ValueKind::word:
      return {option.words.begin(), option.words.end()};
    case ValueKind::threshold:
      return threshold_names();
    case ValueKind::rule_budget:
    case ValueKind::suppression:
      return rule_names();
    default:
      return {};
  }
}

bool takes_file(const OptionEntry& option) {
  return option.kind == ValueKind::file;
}

std::vector<std::string> argument_candidates(const ArgumentEntry& argument) {
  switch (argument.kind) {
    case ArgumentKind::page: {
      const std::vector<std::string_view> names = page_names();
      return {names.begin(), names.end()};
    }
    case ArgumentKind::rule:
      return rule_names();
    case ArgumentKind::word:
      return {argument.words.begin(), argument.words.end()};
    case ArgumentKind::text:
    case ArgumentKind::trace:
      break;
  }
  return {};
}

std::vector<std::string> flags_with_value() {
  std::vector<std::string> flags;
  for (const OptionEntry& option : option_table()) {
    if (option.kind == ValueKind::none) continue;
    flags.push_back(flag_of(option));
    if (option.letter != '\0') flags.push_back(std::string("-") + option.letter);
  }
  std::sort(flags.begin(), flags.end());
  flags.erase(std::unique(flags.begin(), flags.end()), flags.end());
  return flags;
}

std::string join(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char letter : text) result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

int run_completions(const Options& options) {
  const bool is_zsh = options.shell == "zsh";
  return write_text(options.shell == "bash" ? bash_completions()
                    : is_zsh                ? zsh_completions()
                                            : fish_completions(),
                    options);
}

int run_man(const Options& options) {
  return write_text(man_page(), options);
}

}  // namespace doctor
