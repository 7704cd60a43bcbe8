// The completion scripts, each run by its own shell; and the manual.

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "built_paths.h"
#include "command_line/command_table.h"
#include "command_line/help_pages.h"
#include "command_line/option_table.h"
#include "run_tool.h"

namespace doctor::completions_test {
namespace {

struct Case {
  std::string line;                 ///< what stands before the cursor
  std::vector<std::string> offers;  ///< among others
  std::string never;                ///< empty: nothing in particular
};

/// What every shell must offer.
const std::vector<Case> kCases = {
    {"tfdata-doctor sh", {"show"}, "rules"},
    {"tfdata-doctor con", {"convert", "config"}, "show"},
    {"tfdata-doctor show ", {"tree", "calls", "overview"}, "diagnose"},
    {"tfdata-doctor show -v ca", {"calls"}, "tree"},
    {"tfdata-doctor explain slow-", {"slow-source", "slow-transformation"}, "cpu-saturated"},
    {"tfdata-doctor config ", {"show"}, "bash"},
    {"tfdata-doctor completions ", {"bash", "zsh", "fish"}, "show"},
    {"tfdata-doctor --fail-on ", {"note", "warning", "error", "never"}, "show"},
    {"tfdata-doctor --format json --fail-on w", {"warning"}, "note"},
    {"tfdata-doctor --fail-on=", {"note", "never"}, "show"},
    {"tfdata-doctor --fail-on note show ", {"tree", "calls"}, "diagnose"},
    {"tfdata-doctor --fail-on=w", {"warning"}, "note"},
    {"tfdata-doctor show tree --format ", {"text", "json", "html"}, "csv"},
    {"tfdata-doctor show ops --format=c", {"csv"}, "chrome"},
    {"tfdata-doctor --format=json show ca", {"calls"}, "tree"},
    {"tfdata-doctor cap", {"capture"}, "show"},
    {"tfdata-doctor capture host:6009 --ev", {"--every"}, "--host"},
    {"tfdata-doctor capture host:6009 -o prom", {"prometheus="}, "sarif="},
    {"tfdata-doctor convert --format ", {"chrome", "ndjson"}, "json"},
    {"tfdata-doctor --set input-bound.min_s", {"input-bound.min_share="}, "slow-source"},
    {"tfdata-doctor --suppress slow-s", {"slow-source"}, "show"},
    {"tfdata-doctor --fa", {"--fail-on"}, "--format"},
    {"tfdata-doctor show --so", {"--sort"}, "--fail-on"},
    {"tfdata-doctor rules --", {"--format", "--help"}, "--threads"},
    {"tfdata-doctor host.tr", {"host.trace.json"}, "show"},
    {"tfdata-doctor show tree host.tr", {"host.trace.json"}, "calls"},
    {"tfdata-doctor -o host.tr", {"host.trace.json"}, "show"},
    {"tfdata-doctor --output sar", {"sarif="}, "markdown="},
    {"tfdata-doctor show tree logs --run 2026", {"2026_11_22"}, "show"},
    {"tfdata-doctor whatif --fix para", {"parallel_map", "parallel_batch"}, "prefetch"},
    {"tfdata-doctor help com", {"compare", "completions"}, "show"},
    {"tfdata-doctor compl", {"completions"}, "complete"},
};

bool is_installed(const std::string& shell) {
  const bool is_there = std::system(("command -v " + shell + " > /dev/null 2>&1").c_str()) == 0;
  const bool is_required = std::getenv("DOCTOR_REQUIRE_SHELLS") != nullptr;
  CHECK_MESSAGE((is_there || !is_required), shell, " is not installed");
  if (!is_there) MESSAGE("skipped: " << shell << " is not installed (scripts/install-packages check)");
  return is_there;
}

std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

/// The lines that a script of `shell` prints, run in `folder`. Fails where it complains.
std::set<std::string> lines_of(const std::string& shell, const std::string& script, const TemporaryDirectory& folder) {
  const std::string tool = tool_path();
  const char* const path = std::getenv("PATH");
  const EnvironmentVariable with_tool("PATH", tool.substr(0, tool.rfind('/')) + ":" + (path == nullptr ? "" : path));
  const std::string file = folder.write("script", script);
  const std::string command = "cd " + shell_quoted(folder.path()) + " && HOME=. XDG_CONFIG_HOME=. " + shell + " " +
                              shell_quoted(file) + " 2> errors";
  FILE* const output = ::popen(command.c_str(), "r");
  REQUIRE(output != nullptr);
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), output)) text.append(part.data(), size);
  CHECK(::pclose(output) == 0);
  CHECK(read_whole_file(folder / "errors") == "");
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

void check(const Case& test, const std::set<std::string>& offered) {
  CAPTURE(test.line);
  std::string all;
  for (const std::string& word : offered) all += word + " ";
  CAPTURE(all);
  for (const std::string& word : test.offers) CHECK_MESSAGE(offered.count(word) == 1, word, " is not offered");
  if (!test.never.empty()) CHECK_MESSAGE(offered.count(test.never) == 0, test.never, " is offered");
}

/// A folder with a trace to name and a script to source.
void fill(const TemporaryDirectory& folder, const std::string& script) {
  folder.write("completion", script);
  folder.write("host.trace.json", "");
  folder.write("logs/plugins/profile/2026_11_22/host.xplane.pb", "");
}

/// The words of a line as bash cuts them for completion: blanks and "=" end a word, and "=" is one.
std::string bash_words(const std::string& line) {
  std::string words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words += shell_quoted(word) + " ";
    word.clear();
  };
  for (const char letter : line) {
    if (letter == ' ' || letter == '=') {
      end_word();
      if (letter == '=') words += "= ";
    } else {
      word += letter;
    }
  }
  // After a blank begins an empty word; after "=" the cursor is still at that.
  if (word.empty() && line.back() == ' ') words += "''";
  end_word();
  return words;
}

}  // namespace

TEST_CASE("bash completes commands, pages, rules, options and their words") {
  if (!is_installed("bash")) return;
  const TemporaryDirectory folder;
  fill(folder, completion_script("bash"));
  for (const Case& test : kCases) {
    // Readline's part: complete's own fallback to files, where the function offers nothing.
    const std::string script = "compopt() { :; }\n. ./completion\nCOMP_WORDS=(" + bash_words(test.line) +
                               ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_tfdata_doctor\n"
                               "if [[ ${#COMPREPLY[@]} -eq 0 ]]; then mapfile -t COMPREPLY < "
                               "<(compgen -f -- \"${COMP_WORDS[COMP_CWORD]}\"); fi\n"
                               "printf '%s\\n' \"${COMPREPLY[@]}\"\ncomplete -p tfdata-doctor > /dev/null\n";
    check(test, lines_of("bash --norc", script, folder));
  }
}

TEST_CASE("zsh completes commands, pages, rules, options and their words") {
  if (!is_installed("zsh")) return;
  const TemporaryDirectory folder;
  fill(folder, completion_script("zsh"));
  folder.write("site/_tfdata-doctor", completion_script("zsh"));
  bool is_sourced = false;
  for (const Case& test : kCases) {
    // By turns as people try it and as it is installed.
    is_sourced = !is_sourced;
    const std::string load = is_sourced ? "compinit -u -D; . ./completion" : "fpath=($PWD/site $fpath); compinit -u -D";
    // A terminal of its own, in which the line is typed and completed; what compadd is given lands in a file. Then the
    // line is killed and the shell left, so nothing waits for a time.
    const std::string script = R"(zmodload zsh/zpty
: > offered
zpty shell 'PS1= zsh -f -i'
zpty -w shell 'autoload -Uz compinit; )" +
                               load + R"(
compadd() { local -a found; builtin compadd -O found "$@"; print -rl -- $found >> offered; builtin compadd "$@" }
zstyle ":completion:*" verbose no; LISTMAX=0; bindkey "^I" complete-word; unsetopt beep'
zpty -w -n shell )" + shell_quoted(test.line) +
                               R"($'\t\C-x\C-k'
zpty -w shell 'exit'
while zpty -r shell part; do :; done
cat offered
)";
    check(test, lines_of("zsh -f", script, folder));
  }
}

TEST_CASE("fish completes commands, pages, rules, options and their words") {
  if (!is_installed("fish")) return;
  const TemporaryDirectory folder;
  fill(folder, completion_script("fish"));
  for (const Case& test : kCases) {
    const std::string script =
        "source ./completion\ncomplete -C " + shell_quoted(test.line) + " | string replace -r '\\t.*' ''; true\n";
    std::set<std::string> offered;
    // Fish offers "--fail-on=warning" whole.
    for (const std::string& word : lines_of("fish --no-config", script, folder)) {
      const bool is_value = test.line.find('=') != std::string::npos && word.starts_with("--");
      offered.insert(is_value ? word.substr(word.find('=') + 1) : word);
    }
    check(test, offered);
  }
}

TEST_CASE("the program prints what completes it, for shells that it knows") {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Ended ended = run_tool({"completions", shell});
    CHECK(ended.code == 0);
    CHECK(ended.output.find("printed by 'tfdata-doctor completions " + shell + "'") != std::string::npos);
  }
  CHECK(run_tool({"completions", "bahs"}).errors ==
        "tfdata-doctor: completions: unknown value 'bahs'; did you mean 'bash'?\n");
  CHECK(run_tool({"completions"}).errors == "tfdata-doctor: completions needs SHELL; known: bash, zsh, fish\n");
  CHECK(run_tool({"completions"}).code == 2);
  CHECK(run_tool({"man"}).output == man_page());
}

TEST_CASE("the manual has every command and option, and mandoc finds nothing wrong with it") {
  const std::string page = man_page();
  const auto has = [&](std::string text) {
    for (std::size_t at = 0; (at = text.find('-', at)) != std::string::npos; at += 2) text.insert(at, "\\");
    return page.find("\\fB" + text + "\\fR") != std::string::npos;
  };
  for (const CommandEntry& command : command_table()) {
    CHECK_MESSAGE(has(std::string(command.name)) != command.is_hidden, command.name);
  }
  for (const OptionEntry& option : option_table()) {
    const std::string letter = option.letter == '\0' ? "" : std::string("-") + option.letter + ", ";
    CHECK_MESSAGE(has(letter + flag_of(option)), option.name);
    if (option.is_setting()) CHECK_MESSAGE(has(variable_of(option)), variable_of(option));
  }
  if (!is_installed("mandoc")) return;
  const TemporaryDirectory folder;
  folder.write("page.1", page);
  CHECK(lines_of("sh", "mandoc -T lint -W style page.1 || true\n", folder).empty());
  CHECK_FALSE(lines_of("sh", "echo .XX >> page.1; mandoc -T lint -W style page.1 || true\n", folder).empty());
}

}  // namespace doctor::completions_test
