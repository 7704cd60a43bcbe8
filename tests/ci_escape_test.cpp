// Foreign text in documents for CI systems. Each case shows first, by a small reader, what the raw text would do.

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "ci_reader.h"
#include "process/log_sink.h"
#include "text/escape.h"
#include "text/json_page.h"

namespace doctor::ci_escape_test {
namespace {

bool matches(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex(pattern));
}

/// A text that does harm, by the pattern of what a reader acts on.
struct Harm {
  std::string text;
  std::string pattern;
};

}  // namespace

TEST_CASE("no text becomes an element, an attribute or an entity of XML") {
  const std::vector<Harm> harms = {{"<failure/>", "<[a-z]"},
                                   {"]]><b>", "<[a-z]"},
                                   {"a\" onload=\"b", "\" onload="},
                                   {"a' onload='b", "' onload="},
                                   {"&lt;", "&lt;$"},
                                   {"a\x1b[31m", "\x1b"},
                                   {"a\nb", "\n"},
                                   {"\xEF\xBF\xBE", "\xEF\xBF\xBE"},
                                   {"\xEF\xBF\xBF", "\xEF\xBF\xBF"}};
  for (const Harm& harm : harms) {
    CAPTURE(harm.text);
    CHECK(matches(harm.text, harm.pattern));
    CHECK_FALSE(matches(escape_for_xml(harm.text), harm.pattern));
  }
  CHECK(escape_for_xml("a<b & \"c\" 'd'|e") == "a&lt;b &amp; &quot;c&quot; &#39;d&#39;|e");
  CHECK(escape_for_xml("\xEF\xBF\xBE\xEF\xBF\xBF") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(escape_for_xml("\xEF\xBF\xBD") == "\xEF\xBF\xBD");
  CHECK(escape_for_xml("a\xFF") == "a\xEF\xBF\xBD");
}

TEST_CASE("no text becomes markup, a link, a mention or another cell of Markdown") {
  const std::vector<Harm> harms = {{"<img src=x onerror=alert(1)>", "<[a-z]"},
                                   {"</details>", "</"},
                                   {"[a](https://evil.example)", "(^|[^\\\\])\\]\\("},
                                   {"![a](b)", "!\\["},
                                   {"see https://evil.example", "://"},
                                   {"www.evil.example", "www"},
                                   {"@octocat", "@[A-Za-z0-9]"},
                                   {"me@evil.example", "@[A-Za-z0-9]"},
                                   {"owner/repo#1", "repo#[0-9]"},
                                   {"GH-1", "GH-"},
                                   {"!1", "![0-9]"},
                                   {"a|b", "[|]"},
                                   {"a\\|b", "[|]"},
                                   {"`a`", "(^|[^\\\\])`"},
                                   {"*a*", "(^|[^\\\\])\\*"},
                                   {"_a_", "(^|[^\\\\])_"},
                                   {"~~a~~", "(^|[^\\\\])~"},
                                   {"$x$", "(^|[^\\\\])\\$"},
                                   {"&copy;", "&copy"},
                                   {"# a", "^#"},
                                   {"- a", "^-"},
                                   {"+ a", "^\\+"},
                                   {"=== a", "^="},
                                   {"1. a", "^[0-9]+\\."},
                                   {"1) a", "^[0-9]+\\)"},
                                   {"    a", "^ "},
                                   {"> a", "^>"},
                                   {"a\n\n# b", "\n"},
                                   {"a\x1b[2J", "\x1b"}};
  for (const Harm& harm : harms) {
    CAPTURE(harm.text);
    CHECK(matches(harm.text, harm.pattern));
    CHECK_FALSE(matches(escape_for_markdown(harm.text), harm.pattern));
  }
  CHECK(escape_for_markdown("98.7% of num_parallel_calls, Iterator::Root (8 calls)") ==
        "98.7% of num_parallel_calls, Iterator::Root (8 calls)");
  CHECK(escape_for_markdown("").empty());
}

TEST_CASE("a code span of Markdown ends where its text does") {
  CHECK(markdown_code("Iterator::Root[0]") == "`Iterator::Root[0]`");
  CHECK(markdown_code("").empty());
  CHECK(markdown_code("a\nb") == "`a\\x0ab`");
  const std::vector<Harm> harms = {{"`a` <b>", "[^<]<b>"}, {"a|b", "[|]"}, {"a\\|b", "[|]"}, {"``", "``"}};
  for (const Harm& harm : harms) {
    CAPTURE(harm.text);
    CHECK(matches('`' + harm.text + '`', harm.pattern));
    CHECK_FALSE(matches(markdown_code(harm.text), harm.pattern));
  }
  CHECK(markdown_code("a|b") == "<code>a&#124;b</code>");
  CHECK(markdown_code(" a") == "<code> a</code>");
}

TEST_CASE("no text becomes a workflow command or a property of one") {
  const auto printed = [](const std::string& message) { return "::notice title=t::" + message + "\n"; };
  for (const std::string text : {"a\n::error::planted", "a\r::error::planted", "a\r\n  ::set-output name=x::y"}) {
    CAPTURE(text);
    CHECK(commands_in(printed(text)).size() == 2);
    CHECK(commands_in(printed(escape_for_github(text))).size() == 1);
  }
  const std::string planted = "a%0A::error::planted";
  CHECK(commands_in(printed(planted)).at(0).message != planted);
  CHECK(commands_in(printed(escape_for_github(planted))).at(0).message == planted);

  const auto titled = [](const std::string& title) { return "::notice title=" + title + "::m\n"; };
  CHECK(commands_in(titled("a,file=b")).at(0).properties.count("file") == 1);
  CHECK(commands_in(titled(escape_for_github_property("a,file=b"))).at(0).properties.count("file") == 0);
  CHECK(commands_in(titled("a::b")).at(0).message == "b::m");
  const std::string hostile = "Iterator::Root, 50%: \"a\"";
  CHECK(commands_in(titled(escape_for_github_property(hostile))).at(0).properties["title"] == hostile);
  CHECK(commands_in(titled(escape_for_github_property(hostile))).at(0).message == "m");
}

TEST_CASE("a page for a person holds no workflow command") {
  const std::string page = "INPUT-BOUND\n  at        a\n            ::error::planted\n::error::planted\n  a::b::c";
  CHECK(commands_in(page).size() == 2);
  CHECK(commands_in(without_commands(page, false)).empty());
  CHECK(without_commands(page, false) ==
        "INPUT-BOUND\n  at        a\n            \\x3a:error::planted\n\\x3a:error::planted\n  a::b::c");
  CHECK(without_commands("a ##[error]b ##[c\n", false) == "a ##\\x5berror]b ##\\x5bc\n");
  for (const char* plain : {"", "\n", "a\n\n  b: c\n", "   ", ":", "  :", ":\n:a", "#[", "## [", "##a1["}) {
    CHECK(without_commands(plain, false) == plain);
  }
}

TEST_CASE("neither do the logs of Azure Pipelines and TeamCity") {
  CHECK(without_commands("##vso[task.setvariable]x", false) == "##vso\\x5btask.setvariable]x");
  CHECK(without_commands("a ##teamcity[message]", false) == "a ##teamcity\\x5bmessage]");
  CHECK(without_commands("###[a", false) == "###\\x5ba");
  CHECK(without_commands("##a#b[", false) == "##a#b[");
}

TEST_CASE("JSON in such a log reads as it did") {
  const std::string json = R"({"a":"##[error]::b","c":"##vso[d"})";
  const std::string escaped = without_commands(json, true);
  CHECK(commands_in(escaped).empty());
  CHECK(OrderedJson::parse(escaped) == OrderedJson::parse(json));
  CHECK(escaped.find("##[") == std::string::npos);
}

TEST_CASE("a command that comes in pieces is none either") {
  const std::string text = "a\n ::b\n##vso[c\n:";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    CommandEscape escape(false);
    std::string safe = escape.take(text.substr(0, cut));
    safe += escape.take(text.substr(cut));
    CHECK(safe + escape.finish() == "a\n \\x3a:b\n##vso\\x5bc\n:");
  }
}

TEST_CASE("no text becomes a link or a placeholder of a SARIF message") {
  const std::vector<Harm> harms = {{"[a](https://evil.example)", "(^|[^\\\\])\\[[^\\]]*[^\\\\\\]]\\]\\("},
                                   {"Map {0}", "(^|[^{])\\{[0-9]"}};
  for (const Harm& harm : harms) {
    CAPTURE(harm.text);
    CHECK(matches(harm.text, harm.pattern));
    CHECK_FALSE(matches(escape_for_sarif(harm.text), harm.pattern));
  }
  CHECK(escape_for_sarif("Zip[0]::Map {a}") == "Zip[0]::Map {a}");
  CHECK(escape_for_sarif("Zip[0](a\\b") == "Zip\\[0\\](a\\\\b");
  CHECK(escape_for_sarif("{0} and {") == "{{0}} and {{");
  CHECK(escape_for_sarif("a\nb") == "a\\x0ab");
}

TEST_CASE("a path becomes a URI that names it alone") {
  CHECK(uri_of_path("logs/host.xplane.pb") == "logs/host.xplane.pb");
  const std::vector<Harm> harms = {{"a#b", "#"}, {"a?b", "\\?"}, {"a b", " "}, {"c:/d", ":"}, {"50%41", "%41"}};
  for (const Harm& harm : harms) {
    CAPTURE(harm.text);
    CHECK(matches(harm.text, harm.pattern));
    CHECK_FALSE(matches(uri_of_path(harm.text), harm.pattern));
  }
  CHECK(uri_of_path("a b%\xC3\xB6\n") == "a%20b%25%C3%B6%0A");
}

}  // namespace doctor::ci_escape_test
