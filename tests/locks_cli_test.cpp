// Commands that change a file which others may change at the same time: none waits for ever, for another one, for one
// that was killed, or for a process of its own.

#include <doctest/doctest.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <map>
#include <string>
#include <vector>

#include "built_paths.h"
#include "fleet/trace_row.h"
#include "io/replaced_file.h"
#include "process/output_broker.h"
#include "run_tool.h"
#include "temporary_directory.h"

namespace doctor::locks_cli_test {
namespace {

const std::string kTrace = source_dir() + "/testdata/traces/seed_example1.xplane.pb";
const std::string kOther = source_dir() + "/testdata/traces/guide_naive.xplane.pb";

/// Processes whose parent is killed are this one's then, so that it sees them end.
class Parent {
 public:
  Parent() { REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0); }
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;
  ~Parent() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }

  pid_t start(std::vector<std::string> arguments) const {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int stream : {0, 1, 2}) {
      posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
    }
    arguments.insert(arguments.begin(), tool_path());
    std::vector<char*> values;
    values.reserve(arguments.size() + 1);
    for (std::string& value : arguments) values.push_back(value.data());
    values.push_back(nullptr);
    pid_t process = -1;
    REQUIRE(::posix_spawn(&process, tool_path().c_str(), &actions, nullptr, values.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    return process;
  }

  /// How all ended that there are, those too that they leave.
  std::map<pid_t, int> wait_for_all() const {
    std::map<pid_t, int> ended;
    int status = 0;
    for (pid_t process = ::waitpid(-1, &status, 0); process > 0; process = ::waitpid(-1, &status, 0)) {
      ended[process] = status;
    }
    CHECK(errno == ECHILD);
    return ended;
  }
};

struct Command {
  std::string file;
  std::vector<std::string> arguments;  ///< FILE stands for the file
  int worst_status = 0;                ///< of one that nobody killed
};

std::vector<std::string> with_file(std::vector<std::string> arguments, const std::string& file) {
  for (std::string& argument : arguments) {
    if (argument == "FILE") argument = file;
  }
  return arguments;
}

const std::vector<Command> kCommands = {
    {"new.json", {"baseline", "add", "FILE", kTrace}},
    {"new.db", {"baseline", "add", "FILE", kTrace}},
    {"new.json", {"baseline", "add", "FILE", kTrace, "--keep-sessions", "8"}},
    {"new.db", {"baseline", "add", "FILE", kTrace, "--keep-sessions", "8"}},
    {"there.json", {"baseline", "add", "FILE", kTrace, "--keep-sessions", "1"}},
    {"there.json", {"baseline", "prune", "FILE", "--keep", "1"}},
    {"there.db", {"baseline", "prune", "FILE", "--keep", "1"}},
    {"there.json", {"baseline", "prune", "FILE", "--keep-sessions", "1"}},
    {"new.db", {"query", "--db", "FILE", "SELECT 1", kTrace}},
    // Of these one alone writes, and the others say so.
    {"rows.ndjson", {"batch", kTrace, kOther, "-o", "FILE", "--resume"}, 2},
    {"rows.ndjson", {"watch", "--once", source_dir() + "/testdata/advice", "-o", "FILE"}, 2},
};

void make_baselines(const TemporaryDirectory& folder) {
  for (const char* name : {"there.json", "there.db"}) {
    REQUIRE(run_tool({"baseline", "add", folder / name, kTrace, kOther}).code == 0);
  }
}

TEST_CASE("a command that locks ends, run again with the same input") {
  for (const Command& command : kCommands) {
    INFO(command.arguments[0] << " " << command.arguments[1] << " " << command.arguments.back());
    const TemporaryDirectory folder;
    make_baselines(folder);
    for (int run = 0; run < 3; ++run) {
      const Ended ended = run_tool(with_file(command.arguments, folder / command.file));
      CHECK_MESSAGE(ended.code <= command.worst_status, ended.errors);
    }
  }
}

TEST_CASE("ten at once, some of them killed, keep nobody waiting and leave no process") {
  const Parent parent;
  for (const Command& command : kCommands) {
    INFO(command.arguments[0] << " " << command.arguments[1] << " " << command.arguments.back());
    const TemporaryDirectory folder;
    make_baselines(folder);
    const std::vector<std::string> arguments = with_file(command.arguments, folder / command.file);
    for (std::size_t killed = 1; killed < 4; ++killed) {
      std::vector<pid_t> processes(10);
      for (pid_t& process : processes) process = parent.start(arguments);
      for (std::size_t index = 0; index < killed; ++index) ::kill(processes[index], SIGKILL);
      const std::map<pid_t, int> ended = parent.wait_for_all();
      for (std::size_t index = killed; index < processes.size(); ++index) {
        const int status = ended.at(processes[index]);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) <= command.worst_status);
      }
    }
    const Ended last = run_tool(arguments);
    CHECK_MESSAGE(last.code <= command.worst_status, last.errors);
  }
}

TEST_CASE("a broker ends with who asks it, and so does the lock of a file in which nothing was stored") {
  const Parent parent;
  const TemporaryDirectory folder;
  const std::string path = folder / "new.json";
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  const pid_t client = ::fork();
  REQUIRE(client >= 0);
  if (client == 0) {
    const OutputBroker broker({.files = {path}});
    const auto open = [&](const std::string& name) -> Result<FileDescriptor> {
      FileDescriptor file;
      if (const int error = broker.ask(BrokerAction::open, name, &file); error != 0)
        return Unexpected(broker_error(name, error));
      return file;
    };
    const Result<FileDescriptor> file = lock_by_name(path, open);
    static_cast<void>(!::write(ends[1], file ? "x" : "", 1));
    ::pause();
    ::_exit(1);
  }
  char told = 0;
  REQUIRE(::read(ends[0], &told, 1) == 1);
  CHECK(told == 'x');
  const auto lock = [&] { return lock_by_name(path, open_to_change, LOCK_EX, std::chrono::milliseconds(0)); };
  const Result<FileDescriptor> refused = lock();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what.find("another program has had it locked") != std::string::npos);
  REQUIRE(::kill(client, SIGKILL) == 0);
  CHECK(parent.wait_for_all().size() == 2);
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(lock().has_value());
  for (const int end : ends) ::close(end);
}

TEST_CASE("a lock ends with its descriptor, though a broker opened the file") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("runs.json", "content");
  const OutputBroker broker({.files = {path}});
  const auto open = [&](const std::string& name) -> Result<FileDescriptor> {
    FileDescriptor file;
    REQUIRE(broker.ask(BrokerAction::open, name, &file) == 0);
    return file;
  };
  for (int turn = 0; turn < 2; ++turn) CHECK(lock_by_name(path, open, LOCK_EX, std::chrono::milliseconds(0)));
}

TEST_CASE("who waits for a lock gets that of the file that has the name then") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("runs.json", "old");
  int opened = 0;
  const auto open = [&](const std::string& name) {
    Result<FileDescriptor> file = open_to_change(name);
    if (++opened == 1) std::filesystem::rename(folder.write("new", "new"), name);
    return file;
  };
  const Result<FileDescriptor> file = lock_by_name(path, open);
  REQUIRE(file);
  CHECK(opened == 2);
  CHECK(is_named(path, file->number()));
}

}  // namespace
}  // namespace doctor::locks_cli_test
