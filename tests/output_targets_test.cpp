#include "command_line/output_targets.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "temporary_directory.h"

namespace doctor::output_targets_test {
namespace {

OutputRequest request_for(std::vector<std::string> outputs, std::optional<std::string> format = std::nullopt) {
  return {std::move(format),
          std::move(outputs),
          {OutputFormat::text, OutputFormat::json, OutputFormat::sarif, OutputFormat::github, OutputFormat::markdown},
          {}};
}

/// "text:- sarif:a.sarif"; of an error its text.
std::string chosen(const OutputRequest& wanted) {
  const Result<std::vector<OutputTarget>> targets = choose_outputs(wanted);
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
    OutputRequest wanted;
    std::string expected;
  };
  const std::vector<Row> rows = {
      {request_for({}), "text:-"},
      {request_for({}, "sarif"), "sarif:-"},
      {request_for({"report"}), "text:report"},
      {request_for({"-"}), "text:-"},
      {request_for({"report"}, "json"), "json:report"},
      {request_for({"sarif=a"}), "text:- sarif:a"},
      {request_for({"sarif=a", "markdown=b"}), "text:- sarif:a markdown:b"},
      {request_for({"sarif=a"}, "github"), "github:- sarif:a"},
      {request_for({"sarif=a", "report"}), "text:report sarif:a"},
      {request_for({"sarif=a", "json=-"}), "json:- sarif:a"},
      {request_for({"json=-", "report"}), "text:report json:-"},
      {request_for({"./a=b"}), "text:./a=b"},
      {request_for({"sarf=b"}), "--output: unknown value 'sarf'; did you mean 'sarif'?"},
      {request_for({"=b"}), "text:=b"},
      {request_for({"./json=x"}), "text:./json=x"},
      {request_for({"Json=x"}), "text:Json=x"},
      {request_for({"json=a=b"}), "text:- json:a=b"},
      {request_for({"json=-", "sarif=-"}), "--output: two documents for standard output; write one of them to a file"},
      {request_for({"json=-"}, "text"), "--output: two documents for standard output; write one of them to a file"},
      {request_for({"json=-", "-"}), "--output: two documents for standard output; write one of them to a file"},
      {request_for({"a", "b"}),
       "b: a second file without a format; say which document it gets, e.g. --output json=FILE"},
      {request_for({"sarif"}),
       "--output: 'sarif' is a format, not a file; write --output sarif=FILE; for a file of this name, --output "
       "./sarif"},
      {request_for({"json="}), "--output: no file after 'json='; '-' is standard output"},
      {request_for({"csv=x"}), "--output: no csv output for this command; known: text, json, sarif, github, markdown"},
      {request_for({}, "srif"), "--format: unknown value 'srif'; did you mean 'sarif'?"},
  };
  for (const Row& row : rows) CHECK(chosen(row.wanted) == row.expected);
}

TEST_CASE("annotations bring the step's summary with them") {
  const TemporaryDirectory folder;
  OutputRequest wanted = request_for({}, "github");
  wanted.step_summary = folder / "summary";
  CHECK(chosen(wanted) == "github:- markdown:" + wanted.step_summary + "+");
  wanted.outputs = {"sarif=a"};
  CHECK(chosen(wanted) == "github:- sarif:a markdown:" + wanted.step_summary + "+");
  wanted.outputs = {"markdown=" + wanted.step_summary};
  CHECK(chosen(wanted) == "github:- markdown:" + wanted.step_summary);
  wanted = request_for({"github=-"});
  wanted.step_summary = folder / "summary";
  CHECK(chosen(wanted) == "github:- markdown:" + wanted.step_summary + "+");
  wanted = request_for({});
  wanted.step_summary = folder / "summary";
  CHECK(chosen(wanted) == "text:-");
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
    const Result<ProblemLocation> place = parse_source_file(text, "/home/me/repo");
    return place ? place->path + " " + std::to_string(place->line) : "error: " + to_string(place.error());
  };
  CHECK(parsed("src/input.py") == "src/input.py 1");
  CHECK(parsed("src/input.py:12") == "src/input.py 12");
  CHECK(parsed("./src/input.py:12") == "src/input.py 12");
  CHECK(parsed("/home/me/repo/src/input.py:12") == "src/input.py 12");
  CHECK(parsed("src/a:b.py") == "src/a:b.py 1");
  CHECK(parsed("src/a:1:2") == "src/a:1 2");
  for (const char* outside : {"../input.py", "/tmp/input.py", "https://example.org/input.py", "", ":3", "-", "src/"}) {
    CAPTURE(outside);
    CHECK(parsed(outside).find("is not a file below the working directory") != std::string::npos);
  }
  for (const char* wrong : {"input.py:0", "input.py:99999999999999999999", "input.py:3000000000"}) {
    CAPTURE(wrong);
    CHECK(parsed(wrong).find("is not a line of a file") != std::string::npos);
  }
}

}  // namespace doctor::output_targets_test
