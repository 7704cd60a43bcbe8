// Text in columns of a terminal: measured, shortened, wrapped, side by side; and words for a shell.

#include "text/columns.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "text/escape.h"
#include "text/table.h"
#include "text/text_page.h"

namespace doctor::columns_test {
namespace {

const std::string kUmlaut = "\xC3\xB6";     // U+00F6
const std::string kWideA = "\xE3\x81\x82";  // U+3042, two columns
const std::string kAccent = "e\xCC\x81";    // e with U+0301, one column

std::string from_shell(const std::string& command) {
  FILE* const pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 256> buffer{};
  std::string output;
  while (const std::size_t count = ::fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), count);
  REQUIRE(::pclose(pipe) == 0);
  return output;
}

TEST_CASE("columns are those of a terminal") {
  CHECK(column_count("abc") == 3);
  CHECK(column_count(kUmlaut + "x") == 2);
  CHECK(column_count(kWideA + "x") == 3);
  CHECK(column_count(kAccent + "x") == 2);
  CHECK(column_count("") == 0);
}

TEST_CASE("what is clipped keeps its ends and whole characters") {
  CHECK(clip("short", 5) == "short");
  CHECK(clip("abcdefghij", 7) == "ab...ij");
  CHECK(clip("abcdefghij", 8) == "ab...hij");
  CHECK(clip(kUmlaut + kUmlaut + kUmlaut + kUmlaut + kUmlaut + kUmlaut, 5) == kUmlaut + "..." + kUmlaut);
  CHECK(clip(kWideA + kWideA + kWideA + kWideA, 7) == kWideA + "..." + kWideA);
  CHECK(clip(kWideA + kWideA + kWideA, 6) == kWideA + kWideA + kWideA);
}

TEST_CASE("lines break at blanks, and long words where they must") {
  using Lines = std::vector<std::string>;
  CHECK(wrapped("one two three", 7, true) == Lines{"one two", "three"});
  CHECK(wrapped("", 7, true) == Lines{""});
  CHECK(wrapped("abcdefghij", 4, false) == Lines{"abcdefghij"});
  CHECK(wrapped("abcdefghij", 4, true) == Lines{"abcd", "efgh", "ij"});
  CHECK(wrapped("Root::Map::Batch", 8, true) == Lines{"Root::", "Map::", "Batch"});
  CHECK(wrapped("a abcdefgh", 4, true) == Lines{"a", "abcd", "efgh"});
  CHECK(fitted_lines("one two three\nfour\n", 8, 2) == "one\n  two\n  three\nfour\n");
  CHECK(fitted_lines("one two three\nfour\n", {}, 2) == "one two three\nfour\n");
}

TEST_CASE("a table gives way: first names, then columns it can do without, never numbers") {
  const std::vector<TextColumn> columns = {{"name", Align::left, Fit::shorten},
                                           {"calls", Align::right},
                                           {"total", Align::right, Fit::keep, 1},
                                           {"self", Align::right}};
  const std::vector<TextRow> rows = {{"Iterator::Root::Prefetch", "1,234", "12.50 ms", "3.10 ms"}};
  const std::vector<TextRow> long_rows = {{"Iterator::Root::Prefetch::Map::Shuffle", "1,234", "12.50 ms", "3.10 ms"}};
  CHECK(text_table(columns, rows, {}) ==
        "name                      calls     total     self\n"
        "Iterator::Root::Prefetch  1,234  12.50 ms  3.10 ms\n");
  CHECK(text_table(columns, rows, 50) == text_table(columns, rows, {}));
  CHECK(text_table(columns, long_rows, 52) ==
        "name                        calls     total     self\n"
        "Iterator::R...Map::Shuffle  1,234  12.50 ms  3.10 ms\n");
  CHECK(text_table(columns, rows, 44) ==
        "name                      calls     self\n"
        "Iterator::Root::Prefetch  1,234  3.10 ms\n"
        "(left out to fit: total)\n");
  CHECK(text_table(columns, rows, 34) ==
        "name                calls     self\n"
        "Iterato...Prefetch  1,234  3.10 ms\n"
        "(left out to fit: total)\n");
}

TEST_CASE("a sentence goes on below itself, or below its row") {
  const std::vector<TextColumn> columns = {{"stage", Align::left, Fit::shorten}, {"why", Align::left, Fit::wrap}};
  const std::vector<TextRow> rows = {{"Dataset.map", "the input keeps up, a larger buffer gains nothing"}};
  CHECK(text_table(columns, rows, 45) ==
        "stage        why\n"
        "Dataset.map  the input keeps up, a larger\n"
        "             buffer gains nothing\n");
  CHECK(text_table(columns, rows, 32) ==
        "stage\n"
        "Dataset.map\n"
        "    the input keeps up, a larger\n"
        "    buffer gains nothing\n");
}

TEST_CASE("what is to be pasted is never cut") {
  const std::vector<TextColumn> columns = {{"rule"}, {"example", Align::left, Fit::paste}};
  const std::vector<TextRow> rows = {{"slow-map", "logs/job039/plugins/profile/host.xplane.pb"}};
  CHECK(text_table(columns, rows, 60) ==
        "rule      example\n"
        "slow-map  logs/job039/plugins/profile/host.xplane.pb\n");
  CHECK(text_table(columns, rows, 40) ==
        "rule\n"
        "slow-map\n"
        "    example  logs/job039/plugins/profile/host.xplane.pb\n");
  TextPage page(false, 40);
  page.command("more", "tfdata-doctor show tree logs/job039/plugins/profile/host.xplane.pb");
  CHECK(page.take() == "  more      tfdata-doctor show tree logs/job039/plugins/profile/host.xplane.pb\n");
}

TEST_CASE("a word for the shell is what it was when the shell has read it, and safe on a terminal") {
  CHECK(shell_word("logs/run-1/host.xplane.pb") == "logs/run-1/host.xplane.pb");
  CHECK(shell_word("my run") == "'my run'");
  CHECK(shell_word("").size() == 2);
  for (const std::string& text : std::vector<std::string>{
           "plain/path.pb", "my run's \"dir\"", "$(touch x)`y`;z", "a\\b*?[c]", "~root", "tab\there", "line\nfeed",
           "\x1b[31mred 100 % '\\n'", "\xff\xfe", kUmlaut + " " + kWideA, "!history #comment", ""}) {
    CAPTURE(text);
    const std::string word = shell_word(text);
    CHECK(escape_for_terminal(word) == word);
    CHECK(from_shell("printf '%s' " + word) == text);
  }
}

}  // namespace
}  // namespace doctor::columns_test
