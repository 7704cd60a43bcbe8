// Several documents of one run of the program, and how it ends where one of them cannot be written.

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "ci_reader.h"
#include "run_tool.h"

namespace doctor::outputs_cli_test {
namespace {

using Json = nlohmann::json;

std::string testdata(const std::string& path) {
  return source_dir() + "/testdata/" + path;
}

const std::string kSlow = testdata("traces/seed_example1.xplane.pb");
const std::string kHealthy = testdata("traces/healthy_tf2.4.trace.json.gz");
const std::string kNothing = testdata("traces/no_tf_data_tf2.4.xplane.pb");
const std::string kHostile = testdata("outputs/hostile.trace.json");

/// A variable of the environment while the test runs.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("each format is the same to standard output, to a file, and beside others") {
  const TemporaryDirectory folder;
  for (const std::string format : {"json", "sarif", "junit", "gitlab", "github", "markdown"}) {
    CAPTURE(format);
    const Ended printed = run_tool({kSlow, "--format", format});
    CHECK(printed.code == 1);
    CHECK(printed.errors.empty());
    CHECK(printed.output.size() > 100);
    CHECK(run_tool({kSlow, "--format", format, "-o", folder / "one"}).output.empty());
    CHECK(read_whole_file(folder / "one") == printed.output);
    const Ended beside = run_tool({kSlow, "--output", format + "=" + (folder / "two"), "-o", "text=" + (folder / "t")});
    CHECK(beside.code == 1);
    CHECK(read_whole_file(folder / "two") == printed.output);
    CHECK(read_whole_file(folder / "t") == beside.output);
    CHECK(beside.output.starts_with("INPUT-BOUND: "));
  }
}

TEST_CASE("the exit status does not hang on the format") {
  for (const std::string format : {"sarif", "junit", "gitlab", "github", "markdown"}) {
    CAPTURE(format);
    CHECK(run_tool({kHealthy, "--format", format}).code == 0);
    CHECK(run_tool({kSlow, "--format", format, "--fail-on", "never"}).code == 0);
    CHECK(run_tool({kNothing, "--format", format}).code == 3);
  }
}

TEST_CASE("one that cannot be written is named, ends with 2, and leaves the others whole") {
  const TemporaryDirectory folder;
  const std::string missing = folder / "no/such/folder/out.sarif";
  const Ended ended =
      run_tool({kSlow, "--output", "sarif=" + missing, "--output", "gitlab=" + (folder / "gitlab.json")});
  CHECK(ended.code == 2);
  CHECK(ended.errors.find(missing) != std::string::npos);
  CHECK(std::count(ended.errors.begin(), ended.errors.end(), '\n') == 1);
  CHECK(ended.output.starts_with("INPUT-BOUND: "));
  CHECK(Json::parse(read_whole_file(folder / "gitlab.json")).size() >= 3);
  CHECK(run_tool({kSlow, "--output", "sarif=/dev/full"}).code == 2);
}

TEST_CASE("two documents in one place are an error before anything is read or written") {
  const TemporaryDirectory folder;
  const std::string file = folder / "out";
  const Ended same = run_tool({kSlow, "--output", "sarif=" + file, "--output", "junit=" + file});
  CHECK(same.code == 2);
  CHECK(same.errors.find("gets two documents, sarif and junit") != std::string::npos);
  CHECK(same.output.empty());
  CHECK_FALSE(std::filesystem::exists(file));
  const std::string trace = folder.write("trace.pb", read_whole_file(kSlow));
  CHECK(run_tool({trace, "--output", "sarif=" + trace}).code == 2);
  CHECK(read_whole_file(trace) == read_whole_file(kSlow));
  CHECK(run_tool({kSlow, "--output", "sarif=-", "--output", "json=-"}).code == 2);
}

TEST_CASE("a file may have '=' in its name, and only diagnose writes several documents") {
  const TemporaryDirectory folder;
  CHECK(run_tool({kSlow, "-o", folder / "a=b"}).code == 1);
  CHECK(read_whole_file(folder / "a=b").starts_with("INPUT-BOUND: "));
  CHECK(run_tool({"show", "tree", kSlow, "-o", "json=" + (folder / "tree.json")}).output.empty());
  CHECK(Json::parse(read_whole_file(folder / "tree.json"))["schema"] == "tfdata-doctor.tree/2");
  const Ended two = run_tool({"show", "tree", kSlow, "-o", "json=" + (folder / "a"), "-o", folder / "b"});
  CHECK(two.code == 2);
  CHECK(two.errors.find("--output: At Most 1") != std::string::npos);
}

TEST_CASE("formats that a command has not are errors") {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"show", "tree", kSlow, "--format", "sarif"},
                                             {"rules", "--format", "junit"},
                                             {"explain", "input-bound", "--format", "markdown"},
                                             {"--list-runs", testdata("traces"), "--format", "sarif"},
                                             {kSlow, "--format", "xml"}}) {
    const Ended ended = run_tool(arguments);
    CAPTURE(ended.errors);
    CHECK(ended.code == 2);
    CHECK(ended.errors.find("--format") != std::string::npos);
  }
}

TEST_CASE("annotations go to standard output and the summary to the step's file") {
  const TemporaryDirectory folder;
  const std::string summary = folder.write("summary", "before\n");
  const Variable variable("GITHUB_STEP_SUMMARY", summary);
  const Ended ended = run_tool({kSlow, "--format", "github", "--source-file", "src/input.py:12"});
  CHECK(ended.code == 1);
  const std::vector<WorkflowCommand> commands = commands_in(ended.output);
  REQUIRE(commands.size() >= 3);
  CHECK(commands[1].properties.at("file") == "src/input.py");
  CHECK(commands[1].properties.at("line") == "12");
  const std::string written = read_whole_file(summary);
  CHECK(written.starts_with("before\n### "));
  CHECK(written == "before\n" + run_tool({kSlow, "--format", "markdown"}).output);
  run_tool({kSlow});
  CHECK(read_whole_file(summary) == written);
}

TEST_CASE("a summary that cannot be written is told, and is no failure") {
  const TemporaryDirectory folder;
  const Variable variable("GITHUB_STEP_SUMMARY", folder / "no/such/folder/summary");
  const Ended ended = run_tool({kSlow, "--format", "github"});
  CHECK(ended.code == 1);
  CHECK(ended.errors.find("the step has no summary") != std::string::npos);
  CHECK(commands_in(ended.output).size() >= 3);
}

TEST_CASE("names of a trace cannot act on the runner") {
  const Ended ended = run_tool({kHostile, "--format", "github"});
  const auto lines = static_cast<std::size_t>(std::count(ended.output.begin(), ended.output.end(), '\n'));
  const std::vector<WorkflowCommand> commands = commands_in(ended.output);
  CHECK(commands.size() == lines);
  CHECK(std::none_of(commands.begin(), commands.end(),
                     [](const WorkflowCommand& command) { return command.name == "error"; }));
}

TEST_CASE("nor can they by the text for a person") {
  // A name that is wrapped before its own command.
  const TemporaryDirectory folder;
  const std::string name = "Iterator::Root::Map" + std::string(80, 'x');
  const std::string trace =
      folder.write("trace.json", with_replaced(read_whole_file(kHostile), "Iterator::Root::Map", name + " ::error::"));
  {
    const Variable elsewhere("GITHUB_ACTIONS", "false");
    CHECK_FALSE(commands_in(run_tool({trace, "-v"}).output).empty());
  }
  const Variable variable("GITHUB_ACTIONS", "true");
  const Ended ended = run_tool({trace, "-v"});
  CHECK(commands_in(ended.output).empty());
  CHECK(ended.output.find("##[") == std::string::npos);
  CHECK(ended.output.starts_with("INPUT-BOUND: "));
}

TEST_CASE("the C locale gets ASCII alone") {
  const std::vector<std::vector<std::string>> commands = {{kHostile},
                                                          {"show", "timeline", kSlow},
                                                          {"show", "calls", kSlow},
                                                          {"show", "overview", kSlow},
                                                          {"show", "memory", kSlow},
                                                          {"show", "tree", kHostile},
                                                          {"query", "SELECT 'é' AS accent, '█' AS block", kSlow}};
  const auto is_ascii = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char one) { return static_cast<unsigned char>(one) < 0x80; });
  };
  for (const std::vector<std::string>& command : commands) {
    CAPTURE(command.back());
    const Variable unicode("LC_ALL", "C.UTF-8");
    const std::string shown = run_tool(command).output;
    CHECK_FALSE(is_ascii(shown));
    for (const char* const locale : {"C", "POSIX"}) {
      const Variable plain("LC_ALL", locale);
      const std::string output = run_tool(command).output;
      CHECK(is_ascii(output));
      CHECK(std::count(output.begin(), output.end(), '\n') == std::count(shown.begin(), shown.end(), '\n'));
    }
  }
}

TEST_CASE("a trace outside of the working directory is shown by its name alone") {
  const TemporaryDirectory folder;
  Tool tool;
  tool.input = read_whole_file(kSlow);
  CHECK(Json::parse(tool.run({"-", "--format", "gitlab"}).output)[0]["location"]["path"] == "standard-input");
  const std::string trace = folder.write("elsewhere.pb", tool.input);
  CHECK(Json::parse(run_tool({trace, "--format", "gitlab"}).output)[0]["location"]["path"] == "elsewhere.pb");
}

}  // namespace doctor::outputs_cli_test
