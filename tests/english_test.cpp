// Phrases that are not English, or that refer to what a reader does not have. They are looked for in pages, code and
// scripts, whatever the line breaks between their words.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "built_paths.h"

namespace doctor::english_test {
namespace {

namespace fs = std::filesystem;

/// Files, and folders with all that is in them.
constexpr std::array<std::string_view, 12> kPlaces = {
    "apps",      "lib",          "rules",           "docs",        "scripts",   "python", "examples",
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "action.yml"};

struct Phrase {
  std::string_view words;
  std::string_view instead;
  std::string_view unless_after = {};  ///< right where this word comes before it
  std::string_view unless_before = {};
};

constexpr std::array<Phrase, 8> kPhrases = {{
    {"behind", "after, or inside of"},
    {"is no", "is not a", "there", "longer"},
    {"stands for", "is, or means"},
    {"seed 0", "the name of a page that the reader has"},
    {"shared design", "the name of a page that the reader has"},
    {"shared anchors", "the name of a page that the reader has"},
    {"from which", "minimum, or at ... and above"},
    {"up to which", "maximum, or up to"},
}};

/// Right all the same: the file and the words around the phrase.
constexpr std::array<std::pair<std::string_view, std::string_view>, 0> kAllowed = {};

struct Text {
  std::string words;               ///< one space for whatever is between two words of prose
  std::vector<std::size_t> lines;  ///< of each character
};

Text read(const fs::path& file) {
  std::ostringstream content;
  content << std::ifstream(file, std::ios::binary).rdbuf();
  Text text;
  std::size_t line = 1;
  for (const char character : content.str()) {
    const bool is_between = std::isspace(static_cast<unsigned char>(character)) != 0 ||
                            std::string_view("\"#/*").find(character) != std::string_view::npos;
    if (!is_between || text.words.empty() || text.words.back() != ' ') {
      text.words += is_between ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
      text.lines.push_back(line);
    }
    if (character == '\n') ++line;
  }
  return text;
}

bool is_letter(const std::string& words, std::size_t at) {
  return at < words.size() && std::isalpha(static_cast<unsigned char>(words[at])) != 0;
}

/// Whether `phrase` is at `at`, as whole words and in none of the ways that are right.
bool is_wrong_at(const std::string& words, std::size_t at, const Phrase& phrase) {
  const std::size_t end = at + phrase.words.size();
  const bool ends_in_digit = std::isdigit(static_cast<unsigned char>(phrase.words.back())) != 0;
  if ((at > 0 && is_letter(words, at - 1)) || (!ends_in_digit && is_letter(words, end))) return false;
  const std::string_view before = std::string_view(words).substr(0, at > 0 ? at - 1 : 0);
  const std::string_view after = std::string_view(words).substr(std::min(end + 1, words.size()));
  return (phrase.unless_after.empty() || !before.ends_with(phrase.unless_after)) &&
         (phrase.unless_before.empty() || !after.starts_with(phrase.unless_before));
}

bool is_allowed(const std::string& file, const std::string& words, std::size_t at) {
  return std::any_of(kAllowed.begin(), kAllowed.end(), [&](const auto& allowed) {
    const auto& [place, around] = allowed;
    const std::size_t first = at < around.size() ? 0 : at - around.size();
    return file == place && words.substr(first, 2 * around.size()).find(around) != std::string::npos;
  });
}

/// "rules/x.md:12: 'is no': better is not a", for each.
std::vector<std::string> faults_in(const std::string& file, const Text& text) {
  std::vector<std::string> faults;
  for (const Phrase& phrase : kPhrases) {
    for (std::size_t at = text.words.find(phrase.words); at != std::string::npos;
         at = text.words.find(phrase.words, at + 1)) {
      if (!is_wrong_at(text.words, at, phrase) || is_allowed(file, text.words, at)) continue;
      faults.push_back(file + ":" + std::to_string(text.lines[at]) + ": '" + std::string(phrase.words) + "': better " +
                       std::string(phrase.instead));
    }
  }
  return faults;
}

std::vector<fs::path> files_in(const fs::path& place) {
  if (!fs::is_directory(place)) return {place};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(place)) {
    if (entry.is_regular_file() && entry.path().extension() != ".pyc") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Numbers of code that have neither a comment beside nor above them, nor above the ones directly before them: their
/// lines, from 1.
std::vector<std::size_t> unexplained_numbers(const std::string& code) {
  static const std::regex kNumber(
      R"(\s*(inline |static )*constexpr (double|float|int|Picoseconds|std::size_t|std::u?int\d+_t) k\w+ = .*)");
  static const std::regex kComment(R"(\s*//.*)");
  std::vector<std::size_t> lines;
  std::istringstream text(code);
  bool is_explained = false;
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    const bool is_number = std::regex_match(line, kNumber);
    const bool has_comment = line.find("//") != std::string::npos;
    if (is_number && !is_explained && !has_comment) lines.push_back(number);
    is_explained = std::regex_match(line, kComment) || (is_number && (is_explained && !has_comment));
  }
  return lines;
}

}  // namespace

TEST_CASE("pages and code are in English") {
  const fs::path root = source_dir();
  for (const std::string_view place : kPlaces) {
    const std::vector<fs::path> files = files_in(root / place);
    CHECK_FALSE(files.empty());
    for (const fs::path& file : files) {
      for (const std::string& fault : faults_in(file.lexically_relative(root).generic_string(), read(file))) {
        FAIL_CHECK(fault);
      }
    }
  }
}

TEST_CASE("a number that decides says why it is what it is") {
  const fs::path root = source_dir();
  for (const std::string_view place : {"lib/measure", "lib/model", "lib/diagnose"}) {
    for (const fs::path& file : files_in(root / place)) {
      std::stringstream code;
      code << std::ifstream(file).rdbuf();
      const std::string name = file.lexically_relative(root).generic_string();
      for (const std::size_t line : unexplained_numbers(code.str())) {
        FAIL_CHECK(name << ":" << line << ": say where the number comes from");
      }
    }
  }
  CHECK(unexplained_numbers("constexpr double kShare = 0.5;\n") == std::vector<std::size_t>{1});
  CHECK(unexplained_numbers("// Half.\nconstexpr double kShare = 0.5;\nconstexpr int kMost = 3;\n").empty());
  CHECK(unexplained_numbers("constexpr double kShare = 0.5;  // half\nconstexpr int kMost = 3;\n").size() == 1);
}

TEST_CASE("phrases are found across lines, and only as whole words") {
  const auto count = [](const std::string& words) {
    return faults_in("a.md", {words, std::vector<std::size_t>(words.size(), 1)}).size();
  };
  CHECK(count("that is no fault") == 1);
  CHECK(count("there is no fault, and it is no longer one; this now") == 0);
  CHECK(count("the part from which it counts, up to which it does not") == 2);
  CHECK(count("as seed 003 says") == 1);
  CHECK(count("left behind, behindhand") == 1);
}

}  // namespace doctor::english_test
