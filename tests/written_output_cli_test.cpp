// Where the program writes a document to, and what it does not write over.

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "pseudo_terminal.h"
#include "run_tool.h"
#include "synthetic_trace.h"
#include "waiting_trace.h"

namespace doctor::cli_test {
namespace {

std::size_t entries_in(const TemporaryDirectory& folder) {
  const std::filesystem::directory_iterator entries(folder.path());
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

TEST_CASE("-o writes a file as a whole, or not at all") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const std::string expected = run_tool({slow}).output;
  const TemporaryDirectory results;
  const std::string report = results / "report.txt";
  const Ended first = run_tool({slow, "-o", report});
  CHECK(first.code == 1);
  CHECK(first.output.empty());
  CHECK(read_whole_file(report) == expected);
  results.write("report.txt", std::string(100'000, 'x'));
  CHECK(run_tool({slow, "--output=" + report}).code == 1);
  CHECK(read_whole_file(report) == expected);
  CHECK(entries_in(results) == 1);

  const Ended lost = run_tool({slow, "-o", results / "missing/report.txt"});
  CHECK(lost.code == 2);
  CHECK(is_error_line(lost.errors, "missing/report.txt"));
  CHECK(run_tool({slow, "-o", results.path()}).code == 2);
  CHECK(entries_in(results) == 1);
}

TEST_CASE("a link that is written to survives, and its target keeps its rights") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const std::string target = folder.write("target", "old");
  std::filesystem::permissions(target, std::filesystem::perms(0640));
  std::filesystem::create_symlink("target", folder / "link");
  CHECK(run_tool({slow, "-o", folder / "link"}).code == 1);
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(read_whole_file(target).starts_with("INPUT-BOUND"));
  CHECK(std::filesystem::status(target).permissions() == std::filesystem::perms(0640));
}

TEST_CASE("a trace is not overwritten by its report") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const Ended ended = run_tool({slow, "-o", folder.path() + "/./slow.trace.json"});
  CHECK(ended.code == 2);
  CHECK(is_error_line(ended.errors, "the report would replace it"));
  CHECK(read_whole_file(slow) == slow_trace());
}

TEST_CASE("output that cannot be written ends with 2") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  Tool full;
  full.output_path = "/dev/full";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{slow}, {"rules"}, {"explain", "input-bound"}, {"--help"}, {"--version"}}) {
    const Ended ended = full.run(arguments);
    CHECK(ended.code == 2);
    CHECK(is_error_line(ended.errors, "standard output: cannot be written"));
  }
  CHECK(run_tool({slow, "-o", "/dev/full"}).code == 2);
  Tool closed;
  closed.has_closed_output = true;
  CHECK(closed.run({slow}).code == 2);
  // What is spooled must not take the place of the closed stream and swallow the report.
  closed.input = slow_trace();
  closed.pipes_input = true;
  CHECK(closed.run({"-"}).code == 2);
}

TEST_CASE("a reader that goes away is no reason to complain or to die of a signal") {
  const TemporaryDirectory folder;
  Tool tool;
  tool.has_reader = false;
  const Ended ended = tool.run({folder.write("slow.trace.json", slow_trace())});
  CHECK(ended.code == 2);
  CHECK(ended.errors.empty());
}

}  // namespace
}  // namespace doctor::cli_test
