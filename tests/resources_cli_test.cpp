// Threads, memory and time that the program takes, as options set and report them.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <regex>
#include <string>
#include <vector>

#include "io/file_descriptor.h"
#include "pseudo_terminal.h"
#include "run_tool.h"
#include "sanitizer.h"
#include "synthetic_trace.h"
#include "waiting_trace.h"

namespace doctor::cli_test {
namespace {

TEST_CASE("timings go to standard error and leave the report as it is") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const Ended ended = run_tool({slow, "--timings", "--threads", "3"});
  CHECK(ended.output == run_tool({slow}).output);
  const std::string number = "[0-9]+\\.[0-9]{3}";
  const auto stage = [&](const std::string& name) { return name + " +" + number + " ms\n"; };
  const std::string rules = "(  [a-z-]+ +" + number + " ms\n)+";
  const std::string page = stage("open") + "read +" + number +
                           " ms +[0-9]+\\.[0-9] MB/s as stored, [0-9,]+ events/s\n" + stage("build tree") +
                           stage("measure") + stage("diagnose") + rules + stage("render and write") + "peak memory +" +
                           number + " MB +3 threads\n";
  INFO(ended.errors);
  CHECK(std::regex_match(ended.errors, std::regex(page)));
}

TEST_CASE("the peak memory is the program's own, not that of the process that started it") {
  if (kHasSanitizer) return;  // it needs more than what is taken here
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const std::vector<char> taken(100'000'000, 'x');
  const std::string errors = run_tool({slow, "--timings"}).errors;
  REQUIRE(taken.back() == 'x');
  const std::size_t line = errors.rfind("peak memory");
  REQUIRE(line != std::string::npos);
  const double megabytes = std::stod(errors.substr(line + std::string("peak memory").size()));
  CHECK(megabytes > 1);
  CHECK(megabytes < 50);
}

TEST_CASE("the number of threads leaves the report as it is, and a wrong one is an error") {
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const std::string expected = run_tool({slow, "--format", "json"}).output;
  for (const std::string count : {"1", "2", "7", "256"}) {
    CHECK(run_tool({slow, "--format", "json", "--threads", count}).output == expected);
    CHECK(run_tool({"--threads", count, "show", "tree", slow}).code == 0);
  }
  for (const std::string count : {"0", "257", "-1", "two", "1.5", "2x", "", " 2", "99999999999999999999"}) {
    const Ended ended = run_tool({slow, "--threads", count});
    CHECK(ended.code == 2);
    CHECK(ended.output.empty());
    CHECK(is_error_line(ended.errors, "--threads: '" + count + "' is not a whole number from 1 to 256"));
  }
  CHECK(is_error_line(run_tool({"rules", "--threads", "1"}).errors, "unknown option '--threads'"));
}

TEST_CASE("as many threads as cores that may be used, but no more than four, are the default, and eight the most") {
  cpu_set_t before;
  REQUIRE(::sched_getaffinity(0, sizeof(before), &before) == 0);
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const auto is_said = [&](const std::string& threads) {
    return run_tool({slow, "--timings"}).errors.ends_with(" MB   " + threads + "\n");
  };
  const int cores = std::min(CPU_COUNT(&before), 4);
  CHECK(is_said(cores == 1 ? "1 thread" : std::to_string(cores) + " threads"));
  CHECK(run_tool({slow, "--timings", "--threads", "16"}).errors.ends_with(" MB   8 threads\n"));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  }
  REQUIRE(::sched_setaffinity(0, sizeof(one), &one) == 0);
  CHECK(is_said("1 thread"));
  REQUIRE(::sched_setaffinity(0, sizeof(before), &before) == 0);
}

TEST_CASE("--max-memory may stand before the command and may be more than there is") {
  if (kHasSanitizer) return;  // see sanitizer.h
  const TemporaryDirectory folder;
  const std::string slow = folder.write("slow.trace.json", slow_trace());
  const Ended ended = run_tool({"--max-memory", "100T", "show", "tree", slow});
  CHECK(ended.code == 0);
  CHECK(ended.output == run_tool({"show", "tree", slow}).output);
}

TEST_CASE("a size of memory that is none is an error that says what is one") {
  for (const std::string size : {"abc", "0", "-1", "1e3M", "nan", "10 M"}) {
    const Ended ended = run_tool({"x.pb", "--max-memory", size});
    CHECK(ended.code == 2);
    CHECK(is_error_line(ended.errors,
                        "--max-memory: '" + size + "' is not a valid size; a size is a number of bytes, or"));
  }
}

TEST_CASE("under a limit of memory the report is whole, or one line says that more is needed") {
  if (kHasSanitizer) return;  // see sanitizer.h
  const TemporaryDirectory folder;
  const SyntheticTrace trace = steps_with_waits(9'000, 20'000);
  const std::vector<std::string> files = {folder.write("host.xplane.pb", trace.to_xspace()),
                                          folder.write("host.trace.json.gz", gzipped(trace.to_chrome_json()))};
  for (const std::string& file : files) {
    const std::string expected = run_tool({file, "--format", "json"}).output;
    const auto run_within = [&](const std::string& size) {
      CAPTURE(size);
      Ended ended = run_tool({file, "--format", "json", "--max-memory", size});
      if (ended.code == 1) {
        CHECK(ended.output == expected);
        CHECK(ended.errors.empty());
      } else {
        CHECK(ended.code == 2);
        CHECK(ended.output.empty());
        CHECK(is_error_line(ended.errors, "more memory is needed than --max-memory " + size + " allows ("));
      }
      return ended;
    };
    CHECK(run_within("1").errors.find("(starting)") != std::string::npos);
    CHECK(run_within("1K").errors.find("(starting)") != std::string::npos);
    CHECK(run_within("0.25G").code == 1);
    // How much a start takes depends on the machine and its libraries; reading takes several steps more.
    int ended_while_reading = 0;
    for (int kilobytes = 256; kilobytes < 8'192; kilobytes += 128) {
      const Ended ended = run_within(std::to_string(kilobytes) + "K");
      if (ended.errors.find("(reading " + file + ", ") != std::string::npos) ++ended_while_reading;
    }
    CHECK(ended_while_reading > 1);
  }
}

TEST_CASE("on a terminal a progress bar appears while work lasts, and gives way to what is printed") {
  const EnvironmentVariable kind("TERM", "xterm");
  PseudoTerminal terminal(80);
  int ends[2] = {-1, -1};
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const FileDescriptor read_end(ends[0]);
  Tool tool;
  tool.input_from = read_end.number();
  tool.errors_to = terminal.descriptor();
  std::future<Ended> run = std::async(std::launch::async, [&] { return tool.run({"-"}); });
  FileDescriptor write_end(ends[1]);
  REQUIRE(::write(write_end.number(), "no trace", 8) == 8);
  // No more comes for now: the program waits, and the bar's delay passes.
  terminal.wait_for("\rreading  ");
  write_end = FileDescriptor();
  const Ended ended = run.get();
  CHECK(ended.code == 2);
  CHECK(ended.output.empty());
  const std::string& written = terminal.hang_up();
  CHECK(written.find(" s\x1b[K\r\x1b[Ktfdata-doctor: standard input: this is not a trace") != std::string::npos);
  CHECK(written.ends_with("\r\n"));
}

}  // namespace
}  // namespace doctor::cli_test
