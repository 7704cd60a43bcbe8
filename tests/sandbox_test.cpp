#include "process/sandbox.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "batch/trace_list.h"
#include "built_paths.h"
#include "reading_sandbox.h"
#include "run_tool.h"
#include "temporary_directory.h"
#include "text/json_page.h"

namespace doctor::sandbox_test {
namespace {

namespace fs = std::filesystem;

/// Whether this kernel has the part; else the test says that it was left out.
bool can_guard_files() {
  if (available_sandbox().landlock > 0) return true;
  MESSAGE("not checked: " << available_sandbox().why_not);
  return false;
}

bool can_filter_calls() {
  if (available_sandbox().has_filter) return true;
  MESSAGE("not checked: " << available_sandbox().why_not);
  return false;
}

/// What the attempts say, each 0 or an error number, in a process of their own that is in the sandbox.
std::vector<int> try_inside(const SandboxRules& rules, const std::vector<std::function<int()>>& attempts) {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  const pid_t process = ::fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    enter_sandbox(rules);
    for (const std::function<int()>& attempt : attempts) {
      const int outcome = attempt();
      if (::write(ends[1], &outcome, sizeof(outcome)) != static_cast<ssize_t>(sizeof(outcome))) ::_exit(1);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::vector<int> outcomes;
  for (int outcome = 0; ::read(ends[0], &outcome, sizeof(outcome)) > 0;) outcomes.push_back(outcome);
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(process, &status, 0) == process);
  REQUIRE(WIFEXITED(status));
  return outcomes;
}

int outcome_of(long result) {
  return result < 0 ? errno : 0;
}

std::function<int()> opening(std::string path, int flags) {
  return [path = std::move(path), flags] {
    const int descriptor = ::open(path.c_str(), flags, 0600);
    const int outcome = outcome_of(descriptor);
    if (descriptor >= 0) ::close(descriptor);
    return outcome;
  };
}

TEST_CASE("a file that is named can be read, its neighbour not, and neither be written") {
  if (!can_guard_files()) return;
  const TemporaryDirectory folder;
  const std::string named = folder.write("trace", "bytes");
  const std::string other = folder.write("secret", "bytes");
  SandboxRules rules;
  rules.readable = {named};
  const int refused = available_sandbox().has_filter ? EPERM : EACCES;
  CHECK(try_inside(rules, {opening(named, O_RDONLY), opening(other, O_RDONLY), opening(named, O_WRONLY),
                           opening(folder / "new", O_WRONLY | O_CREAT), opening("/etc/passwd", O_RDONLY),
                           [&] { return outcome_of(::unlink(named.c_str())); },
                           [&] { return outcome_of(::truncate(other.c_str(), 0)); }}) ==
        std::vector{0, EACCES, EACCES, EACCES, EACCES, refused, refused});
}

TEST_CASE("a link is followed to the file that it leads to") {
  if (!can_guard_files()) return;
  const TemporaryDirectory folder;
  const std::string target = folder.write("far/trace", "bytes");
  const std::string link = folder / "link";
  fs::create_symlink(target, link);
  SandboxRules rules;
  rules.readable = {link};
  CHECK(try_inside(rules, {opening(link, O_RDONLY), opening(target, O_RDONLY)}) == std::vector{0, 0});
}

TEST_CASE("below a folder that is written, files are made, replaced and removed") {
  if (!can_guard_files()) return;
  const TemporaryDirectory folder;
  const std::string old = folder.write("out/report", "old");
  const std::string beside = folder / "beside";
  SandboxRules rules;
  rules.writable_folders = {folder / "out"};
  CHECK(try_inside(rules, {opening(old + ".new", O_RDWR | O_CREAT | O_EXCL),
                           [&] { return outcome_of(std::rename((old + ".new").c_str(), old.c_str())); },
                           [&] { return outcome_of(::unlink(old.c_str())); }, opening(beside, O_WRONLY | O_CREAT)}) ==
        std::vector{0, 0, 0, EACCES});
}

TEST_CASE(
    "nothing can be executed, no socket opened, no process looked into, no attribute changed, no terminal typed on") {
  if (!can_filter_calls()) return;
  const auto executing = [] {
    char* const arguments[] = {nullptr};
    return outcome_of(::execve("/bin/true", arguments, arguments));
  };
  const auto connecting = [] { return outcome_of(::socket(AF_INET, SOCK_STREAM, 0)); };
  const auto looking = [] { return outcome_of(::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr)); };
  const auto changing = [] { return outcome_of(::chmod("/nowhere", 0777)); };
  const auto typing = [] { return outcome_of(::ioctl(STDIN_FILENO, TIOCSTI, "x")); };
  SandboxRules rules;
  CHECK(try_inside(rules, {executing, connecting, looking, changing, typing}) ==
        std::vector{EPERM, EPERM, EPERM, EPERM, EPERM});
  rules.may_connect = true;
  CHECK(try_inside(rules, {executing, connecting}) == std::vector{EPERM, 0});
}

TEST_CASE("threads start, memory is had and pipes are read as before") {
  const auto starting = [] {
    int sum = 0;
    std::thread([&] { sum = static_cast<int>(std::string(1 << 24, 'x').size()); }).join();
    return sum == 1 << 24 ? 0 : 1;
  };
  const auto piping = [] {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0 || ::write(ends[1], "x", 1) != 1) return errno;
    return opening("/proc/self/fd/" + std::to_string(ends[0]), O_RDONLY)();
  };
  CHECK(try_inside({}, {starting, piping, opening("/proc/self/status", O_RDONLY)}) == std::vector{0, 0, 0});
}

TEST_CASE("a thread that was joined a moment ago is none that ran before") {
  if (!can_guard_files() || !can_filter_calls()) return;
  const TemporaryDirectory folder;
  SandboxRules rules;
  rules.readable = {folder.path()};
  for (int attempt = 0; attempt < 300; ++attempt) {
    const pid_t process = ::fork();
    REQUIRE(process >= 0);
    if (process == 0) {
      std::thread([] {}).join();
      ::_exit(enter_sandbox(rules).why_not.empty() ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(process, &status, 0) == process);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("no process can be made, but threads can") {
  if (!can_filter_calls()) return;
  const auto forking = [] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    return outcome_of(child);
  };
  CHECK(try_inside({}, {forking}) == std::vector{EPERM});
}

TEST_CASE("on a kernel without Landlock the filter keeps files from being written by their names") {
  if (!can_filter_calls()) return;
  const TemporaryDirectory folder;
  const std::string file = folder.write("file", "bytes");
  const auto inside = [&] {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !filter_calls({})) return 1;
    if (opening(file, O_RDONLY)() != 0) return 2;
    if (opening(file, O_WRONLY)() != EACCES || opening(folder / "new", O_WRONLY | O_CREAT)() != EACCES) return 3;
    if (::truncate(file.c_str(), 0) == 0 || ::unlink(file.c_str()) == 0) return 4;
    return ::kill(::getppid(), 0) == 0 ? 5 : 0;
  };
  const pid_t process = ::fork();
  REQUIRE(process >= 0);
  if (process == 0) ::_exit(inside());
  int status = 0;
  REQUIRE(::waitpid(process, &status, 0) == process);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("where too few files can be open to allow what is read, files are not guarded, and that is told") {
  if (available_sandbox().landlock == 0) return;
  const TemporaryDirectory folder;
  const std::string file = folder.write("file", "content");
  const pid_t process = ::fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    const FileDescriptor lowest(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const rlim_t room_for_one = static_cast<rlim_t>(lowest.number()) + 2;
    const rlimit limit = {room_for_one, room_for_one};
    ::setrlimit(RLIMIT_NOFILE, &limit);
    SandboxRules rules;
    rules.readable = {file};
    const Sandbox sandbox = enter_sandbox(rules);
    ::_exit(sandbox.landlock == 0 && sandbox.why_not == "files are not guarded: Too many open files" ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(process, &status, 0) == process);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a trace allows itself and what lies beside it; standard input and pipes a temporary folder") {
  const TemporaryDirectory folder;
  const std::string trace = folder.write("trace", "");
  CHECK(sandbox_plan({.inputs = {trace}}).rules.readable == std::vector{trace});
  CHECK_FALSE(sandbox_plan({.inputs = {trace}}).keeps_what_is_read_once);
  const std::string lines = folder.write("dataset-lines.json", "{}");
  CHECK(sandbox_plan({.inputs = {trace}}).rules.readable == std::vector{trace, lines});
  const std::string memory = folder.write("memory.csv", "");
  CHECK(sandbox_plan({.inputs = {trace}}).rules.readable == std::vector{trace, lines, memory});
  CHECK(sandbox_plan({.inputs = {"-"}}).keeps_what_is_read_once);
}

TEST_CASE("a batch's worker may be led to a file below a folder that is known, by whatever name") {
  const TemporaryDirectory folder;
  TraceFolders folders;
  folders.add_named(folder.write("traces/one", ""));
  CHECK(folders.knows(folder.write("traces/other", "")));
  const std::string far = folder.write("far/away", "");
  CHECK_FALSE(folders.knows(far));
  CHECK_FALSE(folders.knows(folder / "traces/absent"));
  fs::create_symlink(far, folder / "traces/link");
  CHECK_FALSE(folders.knows(folder / "traces/link"));
  CHECK(folders.list().size() == 1);
}

TEST_CASE("capture keeps the network and reads, but writes below its log directory alone") {
  const SandboxRules rules = sandbox_plan({.log_directory = "logs"}).rules;
  CHECK(rules.may_connect);
  CHECK(rules.reads_everything);
  CHECK(rules.growing_folders == std::vector<std::string>{"logs"});
}

TEST_CASE("a batch's folders are those of its traces, each known once") {
  const TemporaryDirectory folder;
  const std::string one = folder.write("a/b/one", "");
  const std::string other = folder.write("c/other", "");
  TraceFolders folders;
  folders.add_named(folder / "a");
  CHECK(folders.take(one));
  CHECK_FALSE(folders.take(other));
  CHECK(folders.take(other));
  CHECK(folders.take("-"));
  fs::create_symlink(folder.write("far/away", ""), folder / "a/link");
  CHECK_FALSE(folders.take(folder / "a/link"));
  CHECK(folders.list().size() == 3);
}

TEST_CASE("of very many folders the one that holds them all is known") {
  const TemporaryDirectory folder;
  TraceFolders folders;
  for (int job = 0; job < 100; ++job) folders.take(folder.write("jobs/" + std::to_string(job) + "/trace", ""));
  CHECK(folders.list() == std::vector{fs::canonical(folder / "jobs").string()});
  CHECK(folders.take(folder.write("jobs/new/trace", "")));
}

TEST_CASE("-v says what the sandbox is, --no-sandbox leaves it out") {
  const std::string trace = source_dir() + "/testdata/traces/seed_example1.xplane.pb";
  const std::string inside = Tool().run({"-v", trace}).errors;
  CHECK(inside.find("tfdata-doctor: sandbox: ") != std::string::npos);
  CHECK((inside.find("1 named path can be read, none written") != std::string::npos) ==
        (available_sandbox().landlock > 0));
  CHECK((inside.find("seccomp: no programs, no sockets") != std::string::npos) == available_sandbox().has_filter);
  CHECK(inside.find("threads that ran before") == std::string::npos);
  const std::string outside = Tool().run({"-v", "--no-sandbox", trace}).errors;
  CHECK(outside.find("sandbox: left out by --no-sandbox") != std::string::npos);
  CHECK(Tool().run({trace}).errors.find("sandbox") == std::string::npos);
  const std::string workers = Tool().run({"batch", "-v", trace}).errors;
  CHECK(workers.find("sandbox: each worker: ") != std::string::npos);
}

TEST_CASE("--require-sandbox fails before a trace is read where a part of the sandbox is missing") {
  const std::string trace = source_dir() + "/testdata/traces/seed_example1.xplane.pb";
  const bool has_all = force_of(available_sandbox()) == "full";
  const TemporaryDirectory folder;
  const std::string rows = folder / "rows";
  REQUIRE(Tool().run({"batch", trace, "-o", rows, "--quiet"}).code <= 1);
  const std::vector<std::vector<std::string>> commands = {{trace, "--fail-on", "never"},
                                                          {"show", "tree", trace},
                                                          {"whatif", trace},
                                                          {"checklist", trace},
                                                          {"compare", trace, "--", trace},
                                                          {"convert", trace, "--format", "csv"},
                                                          {"query", "SELECT 1", trace},
                                                          {"fleet", rows},
                                                          {"baseline", "show", rows},
                                                          {"batch", trace, "--fail-on", "never"}};
  for (std::vector<std::string> command : commands) {
    command.push_back("--require-sandbox");
    const Ended ended = Tool().run(command);
    INFO(command.front() << ": " << ended.errors);
    CHECK((ended.errors.find("not all of the sandbox is in force: ") != std::string::npos) == !has_all);
    if (!has_all) CHECK(ended.code == 2);
    if (!has_all) CHECK(ended.output.empty());
  }
  const Ended both = Tool().run({trace, "--require-sandbox", "--no-sandbox"});
  CHECK(both.code == 2);
  CHECK(both.errors.find("'--no-sandbox' cannot be given with '--require-sandbox'") != std::string::npos);
}

TEST_CASE("a sandbox of which a part is missing is not what was required") {
  const SandboxChoice required = {.is_wanted = true, .is_required = true, .is_told = false};
  CHECK(judge_sandbox(required, {.landlock = 3, .has_filter = true, .why_not = {}}).has_value());
  CHECK(sandbox_word() == "full");
  const Result<void> judged = judge_sandbox(required, {.landlock = 3, .has_filter = false, .why_not = "no seccomp"});
  REQUIRE_FALSE(judged.has_value());
  CHECK(judged.error().what.find("no seccomp") != std::string::npos);
  CHECK(sandbox_word() == "partial");
  CHECK(judge_sandbox({}, {.landlock = 0, .has_filter = false, .why_not = "neither"}).has_value());
  CHECK(sandbox_word() == "none");
}

TEST_CASE("every machine-readable document says how much of the sandbox was in force") {
  const std::string trace = source_dir() + "/testdata/traces/seed_example1.xplane.pb";
  const std::string word(force_of(available_sandbox()));
  const auto says = [&](std::vector<std::string> command, const std::string& with) {
    INFO(command[0] << " " << command.back());
    CHECK(Tool().run(command).output.find(with) != std::string::npos);
  };
  says({trace, "--format", "json"}, "\"sandbox\": \"" + word + "\"");
  says({trace, "--format", "json", "--no-sandbox"}, "\"sandbox\": \"none\"");
  says({trace, "--format", "sarif"}, "\"sandbox\": \"" + word + "\"");
  says({trace, "--format", "junit"}, "<property name=\"sandbox\" value=\"" + word + "\"/>");
  says({trace, "--format", "prometheus"}, "sandbox=\"" + word + "\"");
  says({trace, "--format", "html"}, "(sandbox: " + word + ")");
  says({"batch", trace}, "\"sandbox\":\"" + word + "\"");
  says({"whatif", trace, "--format", "json"}, "\"sandbox\": \"" + word + "\"");
  says({"show", "ops", trace, "--format", "json"}, "\"sandbox\": \"" + word + "\"");
  says({"query", "SELECT 1", trace, "--format", "json"}, "\"sandbox\":\"" + word + "\"");
  says({"compare", trace, "--format", "json", "--", trace}, "\"sandbox\": \"" + word + "\"");
}

}  // namespace
}  // namespace doctor::sandbox_test
