// A folder of runs that is followed: the command `watch` as a user types it.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "built_paths.h"
#include "fleet/trace_row.h"
#include "run_tool.h"
#include "temporary_directory.h"

namespace doctor::watch_cli_test {
namespace {

namespace fs = std::filesystem;

const std::string kTraces = source_dir() + "/testdata/traces/";
const std::string kHealthy = kTraces + "healthy_tf2.4.trace.json.gz";
const std::string kBound = kTraces + "cache_filling_tf2.21.xplane.pb";

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Copies a trace, as if it had been written an hour ago.
std::string store(const std::string& trace, const std::string& path) {
  fs::create_directories(fs::path(path).parent_path());
  fs::copy_file(trace, path, fs::copy_options::overwrite_existing);
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(1));
  return path;
}

std::vector<std::string> paths_in(const std::string& rows) {
  std::vector<std::string> paths;
  std::size_t begin = 0;
  for (std::size_t end = rows.find('\n'); end != std::string::npos; end = rows.find('\n', begin)) {
    const Result<TraceRow> row = parse_row(rows.substr(begin, end - begin));
    if (!row) FAIL(to_string(row.error()));
    paths.push_back(row->file.path);
    begin = end + 1;
  }
  CHECK(begin == rows.size());
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST_CASE("--once diagnoses what is new and whole, and goes on from its rows the next time") {
  const TemporaryDirectory folder;
  const std::string logs = folder / "logs";
  const std::string rows = folder / "rows.ndjson";
  const std::vector<std::string> command = {"watch", "--once", "-o", rows, logs};
  const std::string first = store(kHealthy, logs + "/plugins/profile/r1/host.trace.json.gz");
  const std::string second = store(kBound, logs + "/plugins/profile/r2/host.xplane.pb");
  fs::last_write_time(second, fs::file_time_type::clock::now());
  const Ended begun = run_tool(command);
  CHECK(begun.code == 0);
  CHECK(begun.output.empty());
  CHECK(contains(begun.errors, first + ": healthy, waits 0.6%\n"));
  CHECK(contains(begun.errors, "1 trace: 1 healthy; 1 still being written\n"));
  CHECK(paths_in(read_whole_file(rows)) == std::vector<std::string>{first});

  fs::last_write_time(second, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const Ended later = run_tool(command);
  CHECK(later.code == 1);
  CHECK(contains(later.errors, second + ": input_bound"));
  CHECK_FALSE(contains(later.errors, first));
  CHECK(paths_in(read_whole_file(rows)) == std::vector<std::string>{first, second});

  const Ended nothing_new = run_tool(command);
  CHECK(nothing_new.code == 0);
  CHECK(contains(nothing_new.errors, "0 traces"));
  CHECK(paths_in(read_whole_file(rows)).size() == 2);
}

TEST_CASE("without a file rows go to standard output, and exit codes are those of batch") {
  const TemporaryDirectory folder;
  store(kHealthy, folder / "a.trace.json.gz");
  store(kBound, folder / "b.xplane.pb");
  const Ended all = run_tool({"watch", "--once", folder.path()});
  CHECK(all.code == 1);
  CHECK(paths_in(all.output).size() == 2);
  CHECK_FALSE(contains(all.errors, "input_bound"));
  CHECK(run_tool({"watch", "--once", "--fail-on", "never", folder.path()}).code == 0);
  CHECK(run_tool({"watch", "--once", "--exit-zero", folder.path()}).code == 0);
  CHECK(run_tool({"watch", "--once", "-q", folder.path()}).errors.empty());
  folder.write("c.trace.json", "no trace\n");
  fs::last_write_time(folder / "c.trace.json", fs::file_time_type::clock::now() - std::chrono::hours(1));
  CHECK(run_tool({"watch", "--once", folder.path()}).code == 2);
  const TemporaryDirectory empty;
  CHECK(run_tool({"watch", "--once", empty.path()}).code == 0);
}

TEST_CASE("what is no folder is refused") {
  CHECK(contains(run_tool({"watch"}).errors, "no directory given"));
  CHECK(contains(run_tool({"watch", kHealthy}).errors, "is not a directory"));
  CHECK(run_tool({"watch", kHealthy + "/none"}).code == 2);
  CHECK(run_tool({"watch", kTraces, "--every", "10ms"}).code == 2);
  CHECK(run_tool({"watch", kTraces, kTraces, "--once"}).code == 2);
}

/// Follows the folder until the first row comes, then sends the signal.
Ended end_after_first_row(const std::string& logs, int signal) {
  const TemporaryDirectory folder;
  int pipe[2] = {};
  REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, (folder / "errors").c_str(), O_WRONLY | O_CREAT, 0600);
  std::vector<std::string> owned = {tool_path(), "watch", "--every", "1h", logs};
  std::vector<char*> values;
  for (std::string& value : owned) values.push_back(value.data());
  values.push_back(nullptr);
  pid_t process = 0;
  REQUIRE(::posix_spawn(&process, tool_path().c_str(), &actions, nullptr, values.data(), environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  std::string output;
  char buffer[4096];
  bool is_sent = false;
  for (ssize_t count = 0; (count = ::read(pipe[0], buffer, sizeof(buffer))) > 0;) {
    output.append(buffer, static_cast<std::size_t>(count));
    if (!is_sent && contains(output, "\n")) is_sent = ::kill(process, signal) == 0;
  }
  ::close(pipe[0]);
  int status = 0;
  REQUIRE(::waitpid(process, &status, 0) == process);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), output, read_whole_file(folder / "errors")};
}

TEST_CASE("a signal ends it with whole rows and the exit status of what it has diagnosed") {
  for (const int signal : {SIGINT, SIGTERM}) {
    CAPTURE(signal);
    const TemporaryDirectory healthy;
    store(kHealthy, healthy / "a.trace.json.gz");
    const Ended clean = end_after_first_row(healthy.path(), signal);
    CHECK(clean.code == 0);
    CHECK(paths_in(clean.output).size() == 1);
    CHECK(contains(clean.errors, "1 trace: 1 healthy"));
    const TemporaryDirectory bound;
    store(kBound, bound / "a.xplane.pb");
    CHECK(end_after_first_row(bound.path(), signal).code == 1);
  }
}

}  // namespace
}  // namespace doctor::watch_cli_test
