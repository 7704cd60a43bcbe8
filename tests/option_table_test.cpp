// The tables of commands, pages and options, held against help and docs.

#include "command_line/option_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "built_paths.h"
#include "command_line/command_line.h"
#include "command_line/command_table.h"
#include "command_line/help_pages.h"
#include "job_settings.h"
#include "report/page.h"
#include "run_tool.h"
#include "temporary_directory.h"

namespace doctor::settings_test {
namespace {

TEST_CASE("nobody asks a request for an option that there is not") {
  std::set<std::string, std::less<>> names;
  for (const OptionEntry& option : option_table()) names.insert(std::string(option.name));
  static const std::regex kQuestion(
      R"re(\b(?:request|values|layer)\.(?:given|text|number|duration|word|is_set|find|all)\("([a-z-]+)"\))re");
  std::size_t questions = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_dir() + "/apps")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string source = read_whole_file(entry.path().string());
    for (std::sregex_iterator match(source.begin(), source.end(), kQuestion), none; match != none; ++match) {
      CAPTURE(entry.path().string());
      CHECK_MESSAGE(names.contains((*match)[1].str()), (*match)[1].str());
      ++questions;
    }
  }
  CHECK(questions > 50);
}

TEST_CASE("where a page of docs names the default of an option, it is that of the table") {
  static const std::regex kDefault(
      R"re(`--([a-z0-9-]+)[^`]*`\s+\((?:default:?\s+)?`?([0-9][0-9.]*[a-zA-Z]*|[a-z]+)`?[;)])re");
  std::size_t defaults = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_dir() + "/docs")) {
    if (entry.path().extension() != ".md") continue;
    const std::string page = read_whole_file(entry.path().string());
    for (std::sregex_iterator match(page.begin(), page.end(), kDefault), none; match != none; ++match) {
      CAPTURE(entry.path().string());
      CAPTURE(match->str());
      const auto is_named = [&](const OptionEntry& option) { return option.name == (*match)[1].str(); };
      const auto says_so = [&](const OptionEntry& option) {
        return is_named(option) && option.default_text == (*match)[2].str();
      };
      CHECK(std::any_of(option_table().begin(), option_table().end(), says_so));
      ++defaults;
    }
  }
  CHECK(defaults >= 3);
}

TEST_CASE("every command has an entry, and no two options of a command share a name or a letter") {
  for (const CommandEntry& command : command_table()) {
    CAPTURE(command.name);
    CHECK(&entry_of(command.command) == &command);
    std::set<std::string> names = {"help", "version", "h"};
    for (const OptionEntry* option : options_of(command.command)) {
      CAPTURE(option->name);
      CHECK(names.insert(std::string(option->name)).second);
      if (option->letter != '\0') CHECK(names.insert(std::string(1, option->letter)).second);
      CHECK(find_option(command.command, option->name) == option);
    }
  }
}

TEST_CASE("every option explains itself, and what stands in the file stands in the environment and in config show") {
  for (const OptionEntry& option : option_table()) {
    CAPTURE(option.name);
    CHECK_FALSE(option.help.empty());
    CHECK(option.value_name.empty() == (option.kind == ValueKind::none));
    CHECK(option.words.empty() == (option.kind != ValueKind::word));
    const OptionEntry* const shown = find_option(Command::config, option.name);
    CHECK((option.key.empty() || shown != nullptr));
  }
  CHECK(variable_of(*find_option(Command::diagnose, "fail-on")) == "TFDATA_DOCTOR_FAIL_ON");
  CHECK(find_option(Command::rules, "fail-on") == nullptr);
}

TEST_CASE("an option of a comparison that no file may set names what one run reads or writes, or with which rights") {
  std::vector<std::string> without_key;
  for (const OptionEntry* option : options_of(Command::compare)) {
    if (option->key.empty()) without_key.emplace_back(option->name);
  }
  std::vector<std::string> expected = {"timeout", "no-sandbox", "require-sandbox", "embedded", "label",
                                       "ideal",   "output",     "config",          "no-config"};
  std::sort(without_key.begin(), without_key.end());
  std::sort(expected.begin(), expected.end());
  CHECK(without_key == expected);
}

TEST_CASE("every example in the help is a command line that is understood") {
  const Job job("");
  for (const CommandEntry& command : command_table()) {
    CHECK((command.is_hidden || command.examples.size() >= 1));
    for (const CommandExample& example : command.examples) {
      CAPTURE(example.line);
      std::vector<std::string> words = {""};
      bool is_quoted = false;
      for (const char letter : example.line.substr(0, example.line.find(" > "))) {
        if (letter == '\'') {
          is_quoted = !is_quoted;
        } else if (letter == ' ' && !is_quoted) {
          words.emplace_back();
        } else {
          words.back() += letter;
        }
      }
      // The file is not there.
      std::replace(words.begin(), words.end(), std::string("ci.toml"), job.folder().write("ci.toml", ""));
      CHECK(job.request(words).command == command.command);
    }
  }
}

TEST_CASE("options that only some pages take name pages that there are") {
  for (const OptionEntry& option : option_table()) {
    for (const std::string_view page : option.pages) CHECK_MESSAGE(find_page(page) != nullptr, page);
  }
}

}  // namespace
}  // namespace doctor::settings_test
