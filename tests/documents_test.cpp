// The pages for users: every link in them leads somewhere, README.md leads to each of them once, and none begins with a
// sentence that must be read twice. The gains beside its first example are those that were measured.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "built_paths.h"

namespace doctor::documents_test {
namespace {

namespace fs = std::filesystem;

/// Where pages are, with all folders below.
constexpr std::array<std::string_view, 7> kFolders = {"docs",  "rules",    "lib",      "bench",
                                                      "tests", "testdata", "packaging"};

const fs::path& root() {
  static const fs::path folder = source_dir();
  return folder;
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<fs::path> pages() {
  std::vector<fs::path> files;
  const auto add = [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name.ends_with(".md") && !name.starts_with("expected"))
      files.push_back(entry.path());
  };
  for (const fs::directory_entry& entry : fs::directory_iterator(root())) add(entry);
  for (const std::string_view folder : kFolders) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root() / folder)) add(entry);
  }
  std::erase_if(files, [](const fs::path& file) { return file.string().ends_with(".expected.md"); });
  std::sort(files.begin(), files.end());
  return files;
}

/// The text outside of blocks of code, each line of which stays as an empty one.
std::string prose_of(const std::string& text) {
  std::istringstream lines(text);
  std::string prose;
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    const bool is_fence = line.find_first_not_of(' ') == line.find("```") && line.find("```") != std::string::npos;
    if (!is_code && !is_fence) prose += line;
    if (is_fence) is_code = !is_code;
    prose += '\n';
  }
  return prose;
}

/// The targets of Markdown's links and pictures, and of HTML's pictures.
std::vector<std::string> links_in(const std::string& text) {
  static const std::regex kLink(R"re(\]\(([^()\s]+)\)|(?:src|srcset)="([^"]+)")re");
  std::vector<std::string> targets;
  const std::string prose = prose_of(text);
  for (std::sregex_iterator match(prose.begin(), prose.end(), kLink), end; match != end; ++match) {
    targets.push_back((*match)[1].matched ? (*match)[1] : (*match)[2]);
  }
  return targets;
}

/// The anchors of a page's headings, as GitHub makes them.
std::set<std::string> anchors_of(const std::string& text) {
  std::istringstream lines(prose_of(text));
  std::set<std::string> anchors;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#")) continue;
    std::string anchor;
    for (const char letter : line.substr(std::min(line.size(), line.find(' ') + 1))) {
      const auto character = static_cast<unsigned char>(letter);
      if (std::isalnum(character) != 0 || letter == '-' || letter == '_' || character >= 0x80) {
        anchor += static_cast<char>(std::tolower(character));
      } else if (letter == ' ') {
        anchor += '-';
      }
    }
    anchors.insert(anchor);
  }
  return anchors;
}

bool is_broken(const fs::path& page, const std::string& link) {
  if (link.find("://") != std::string::npos || link.starts_with("mailto:")) return false;
  const std::size_t hash = link.find('#');
  const fs::path target = hash == 0 ? page : page.parent_path() / link.substr(0, hash);
  if (!fs::exists(target)) return true;
  if (hash == std::string::npos || target.extension() != ".md") return false;
  return !anchors_of(text_of(target)).contains(link.substr(hash + 1));
}

struct Sentence {
  std::string text;
  std::size_t words = 0;
};

/// The longest sentence of prose; rows of tables and headings are none, an item of a list begins one.
Sentence longest_sentence(const std::string& text) {
  Sentence longest;
  Sentence sentence;
  const auto end = [&] {
    if (sentence.words > longest.words) longest = sentence;
    sentence = {};
  };
  std::istringstream lines(prose_of(text));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos || std::string_view("#|-<").find(line[first]) != std::string_view::npos ||
        std::isdigit(static_cast<unsigned char>(line[first])) != 0) {
      end();
    }
    if (first == std::string::npos || line[first] == '#' || line[first] == '|') continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word == "-") continue;
      sentence.text += word + ' ';
      ++sentence.words;
      if (std::string_view(".:?!").find(word.back()) != std::string_view::npos) end();
    }
  }
  end();
  return longest;
}

std::string first_lines(const std::string& text, std::size_t count) {
  std::size_t end = 0;
  for (; count > 0 && end != std::string::npos; --count) end = text.find('\n', end + 1);
  return text.substr(0, end);
}

}  // namespace

TEST_CASE("every link in the pages leads somewhere") {
  std::size_t count = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& link : links_in(text_of(page))) {
      ++count;
      CHECK_MESSAGE(!is_broken(page, link), page.lexically_relative(root()).string(), ": ", link);
    }
  }
  CHECK(count > 100);
}

TEST_CASE("links are told apart from code, and anchors are GitHub's") {
  CHECK(links_in("[a](b.md#c) ![d](e.png)\n```\n[no](no.md)\n```\n<img src=\"f.png\">") ==
        std::vector<std::string>{"b.md#c", "e.png", "f.png"});
  CHECK(anchors_of("## A prefetch and `steps_per_execution`\n").contains("a-prefetch-and-steps_per_execution"));
  CHECK(is_broken(root() / "README.md", "docs/no_such_page.md"));
  CHECK(is_broken(root() / "README.md", "docs/report.md#no-such-heading"));
}

TEST_CASE("README.md leads to each page of docs once") {
  std::map<std::string, int> times;
  for (const fs::directory_entry& entry : fs::directory_iterator(root() / "docs")) {
    if (entry.path().extension() == ".md") times["docs/" + entry.path().filename().string()] = 0;
  }
  for (const std::string& link : links_in(text_of(root() / "README.md"))) {
    const auto page = times.find(link.substr(0, link.find('#')));
    if (page != times.end()) ++page->second;
  }
  REQUIRE(!times.empty());
  for (const auto& page : times) CHECK_MESSAGE(page.second == 1, page.first, ": ", page.second, " links");
}

TEST_CASE("README.md shows the gains that were measured") {
  const std::string page = text_of(root() / "README.md");
  const std::string folder = "testdata/advice/epochs_of_few/";
  REQUIRE(page.find("tfdata-doctor " + folder) != std::string::npos);
  const auto truth = nlohmann::json::parse(text_of(root() / folder / "truth.json"));
  double largest = 0;
  for (const auto& effect : truth["effects"].items()) {
    const auto factor = effect.value().get<double>();
    CHECK_MESSAGE(page.find(fmt::format("| {:.1f}x |", factor)) != std::string::npos, effect.key());
    largest = std::max(largest, factor);
  }
  CHECK(largest >= 4);
}

TEST_CASE("no page begins with a sentence of more than 40 words") {
  constexpr std::size_t kFirstScreen = 40;  // lines
  constexpr std::size_t kMostWords = 40;
  std::vector<fs::path> files = {root() / "README.md", root() / "SECURITY.md"};
  for (const fs::directory_entry& entry : fs::directory_iterator(root() / "docs")) {
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  }
  for (const fs::path& file : files) {
    const Sentence longest = longest_sentence(first_lines(text_of(file), kFirstScreen));
    CHECK_MESSAGE(longest.words <= kMostWords, file.filename().string(), ": ", longest.words, " words: ", longest.text);
  }
  CHECK(longest_sentence("One two.\n- three four five\nsix: seven\n| a b c d e f g |\n").words == 4);
}

}  // namespace doctor::documents_test
