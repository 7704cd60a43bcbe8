#include "command_line/output_targets.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "temporary_directory.h"

namespace doctor::output_targets_test {
namespace {

OutputWishes wishes(std::vector<std::string> outputs, std::optional<std::string> format = std::nullopt) {
  return {std::move(format),
          std::move(outputs),
          {OutputFormat::text, OutputFormat::json, OutputFormat::sarif, OutputFormat::github, OutputFormat::markdown},
          {}};
}

/// "text:- sarif:a.sarif"; of an error its text.
std::string chosen(const OutputWishes& wished) {
  const Result<std::vector<OutputTarget>> targets = choose_outputs(wished);
  if (!targets) return to_string(targets.error());
  std::string text;
  for (const OutputTarget& target : *targets) {
    text += (text.empty() ? "" : " ") + std::string(to_word(target.format)) + ":" +
            (target.is_standard_output() ? "-" : target.path) + (target.is_step_summary ? "+" : "");
  }
  return text;
}

}  // namespace

TEST_CASE("the main document goes to standard output, unless it has a file or another is there") {
  struct Row {
    OutputWishes wished;
    std::string expected;
  };
  const std::vector<Row> rows = {
      {wishes({}), "text:-"},
      {wishes({}, "sarif"), "sarif:-"},
      {wishes({"report"}), "text:report"},
      {wishes({"-"}), "text:-"},
      {wishes({"report"}, "json"), "json:report"},
      {wishes({"sarif=a"}), "text:- sarif:a"},
      {wishes({"sarif=a", "markdown=b"}), "text:- sarif:a markdown:b"},
      {wishes({"sarif=a"}, "github"), "github:- sarif:a"},
      {wishes({"sarif=a", "report"}), "text:report sarif:a"},
      {wishes({"sarif=a", "json=-"}), "json:- sarif:a"},
      {wishes({"json=-", "report"}), "text:report json:-"},
      {wishes({"a=b"}), "text:a=b"},
      {wishes({"=b"}), "text:=b"},
      {wishes({"./json=x"}), "text:./json=x"},
      {wishes({"Json=x"}), "text:Json=x"},
      {wishes({"json=a=b"}), "text:- json:a=b"},
      {wishes({"json=-", "sarif=-"}), "--output: two documents for standard output; write one of them to a file"},
      {wishes({"json=-"}, "text"), "--output: two documents for standard output; write one of them to a file"},
      {wishes({"json=-", "-"}), "--output: two documents for standard output; write one of them to a file"},
      {wishes({"a", "b"}), "b: a second file without a format; say which document it gets, e.g. --output json=FILE"},
      {wishes({"json="}), "--output: no file after 'json='; '-' is standard output"},
      {wishes({"csv=x"}), "--output: there is no 'csv' of this; known: text, json, sarif, github, markdown"},
      {wishes({}, "srif"), "--format: unknown value 'srif'; did you mean 'sarif'?"},
  };
  for (const Row& row : rows) CHECK(chosen(row.wished) == row.expected);
}

TEST_CASE("annotations bring the step's summary with them") {
  const TemporaryDirectory folder;
  OutputWishes wished = wishes({}, "github");
  wished.step_summary = folder / "summary";
  CHECK(chosen(wished) == "github:- markdown:" + wished.step_summary + "+");
  wished.outputs = {"sarif=a"};
  CHECK(chosen(wished) == "github:- sarif:a markdown:" + wished.step_summary + "+");
  wished.outputs = {"markdown=" + wished.step_summary};
  CHECK(chosen(wished) == "github:- markdown:" + wished.step_summary);
  wished = wishes({"github=-"});
  wished.step_summary = folder / "summary";
  CHECK(chosen(wished) == "github:- markdown:" + wished.step_summary + "+");
  wished = wishes({});
  wished.step_summary = folder / "summary";
  CHECK(chosen(wished) == "text:-");
}

TEST_CASE("no document replaces an input or another document") {
  const TemporaryDirectory folder;
  const std::vector<std::string> inputs = {folder.write("trace.json", "{}")};
  const std::string file = folder.write("report", "");
  std::filesystem::create_symlink(file, folder / "link");
  const auto check = [&](std::vector<OutputTarget> targets) {
    const Result<void> checked = check_outputs(targets, inputs);
    return checked ? std::string() : checked.error().what;
  };
  const std::string two = "gets two documents, text and sarif";
  CHECK(check({{OutputFormat::text, ""}, {OutputFormat::sarif, file}}).empty());
  CHECK(check({{OutputFormat::text, file}, {OutputFormat::sarif, file}}) == two);
  CHECK(check({{OutputFormat::text, file}, {OutputFormat::sarif, folder / "link"}}) == two);
  CHECK(check({{OutputFormat::text, folder / "new"}, {OutputFormat::sarif, folder / "./new"}}) == two);
  CHECK(check({{OutputFormat::text, folder / "new"}, {OutputFormat::sarif, folder / "newer"}}).empty());
  CHECK(check({{OutputFormat::text, "/dev/null"}, {OutputFormat::sarif, "/dev/null"}}).empty());
  CHECK(check({{OutputFormat::text, ""}, {OutputFormat::sarif, inputs[0]}}) ==
        "is a trace that is read; the report would replace it");
}

TEST_CASE("a source file is a path of the repository, with a line or without") {
  const auto parsed = [](const std::string& text) {
    const Result<ProblemLocation> place = parse_source_file(text, "/work/repo");
    return place ? place->path + " " + std::to_string(place->line) : "error: " + to_string(place.error());
  };
  CHECK(parsed("src/input.py") == "src/input.py 1");
  CHECK(parsed("src/input.py:12") == "src/input.py 12");
  CHECK(parsed("./src/input.py:12") == "src/input.py 12");
  CHECK(parsed("/work/repo/src/input.py:12") == "src/input.py 12");
  CHECK(parsed("src/a:b.py") == "src/a:b.py 1");
  CHECK(parsed("src/a:1:2") == "src/a:1 2");
  for (const char* outside : {"../input.py", "/tmp/input.py", "https://example.org/input.py", "", ":3", "-", "src/"}) {
    CAPTURE(outside);
    CHECK(parsed(outside).find("is no file below the working directory") != std::string::npos);
  }
  for (const char* wrong : {"input.py:0", "input.py:99999999999999999999", "input.py:3000000000"}) {
    CAPTURE(wrong);
    CHECK(parsed(wrong).find("is no line of a file") != std::string::npos);
  }
}

}  // namespace doctor::output_targets_test
