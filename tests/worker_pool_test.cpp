// Tasks in processes of their own.

#include "process/worker_pool.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "temporary_directory.h"

namespace doctor::worker_pool_test {
namespace {

/// What the descriptors of this process lead to, one a line, without those of the listing itself.
std::string open_files() {
  std::string names;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (!error && target.find("/proc/") == std::string::npos) names += target + "\n";
  }
  return names;
}

/// Of a worker.
std::vector<int> pipes() {
  std::vector<int> found;
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode)) found.push_back(descriptor);
  }
  return found;
}

std::string message(std::uint32_t kind, std::uint32_t length, const std::string& text) {
  const std::uint32_t head[] = {kind, length};
  std::string bytes(sizeof(head), '\0');
  std::memcpy(bytes.data(), head, sizeof(head));
  return bytes + text;
}

/// To every pipe that can be written.
void answer(const std::string& bytes) {
  for (const int pipe : pipes()) static_cast<void>(!::write(pipe, bytes.data(), bytes.size()));
}

[[noreturn]] void answer_without_end() {
  answer(message(2, UINT32_MAX, {}));
  while (true) answer(std::string(1 << 12, 'x'));
}

/// No end of the process is to be seen then.
[[noreturn]] void close_pipes() {
  for (const int pipe : pipes()) ::close(pipe);
  while (true) ::pause();
}

/// As the program has it: a task may be sent to a worker that has just ended.
class PoolCase {
 public:
  PoolCase() = default;
  PoolCase(const PoolCase&) = delete;
  PoolCase& operator=(const PoolCase&) = delete;
  ~PoolCase() { std::signal(SIGPIPE, before_); }

 private:
  void (*before_)(int) = std::signal(SIGPIPE, SIG_IGN);
};

/// Does what its task says.
std::string work(const std::string& task) {
  const std::string forged = message(2, 6, "forged");
  if (task == "crash without a word") ::raise(SIGKILL);
  if (task == "forge") answer(forged + forged);
  if (task == "answer without end") answer_without_end();
  if (task == "answer too much") return std::string(WorkerPool::kMostAnswer + 1, 'x');
  if (task == "answer what is none") answer(message(7, 6, "forged"));
  if (task == "close its pipes") close_pipes();
  if (task == "crash") {
    static_cast<void>(std::fputs("something is wrong", stderr));
    ::raise(SIGKILL);
  }
  if (task == "leave") ::_exit(7);
  if (task == "hang") ::pause();
  if (task == "throw") throw std::bad_alloc();
  if (task == "exhaust") std::get_new_handler()();
  if (task == "list") return open_files();
  if (task == "long") return std::string(1'000'000, 'x');
  return "did " + task;
}

std::string note(const std::string& task) {
  return task == "nothing to note" ? "" : "noted " + task;
}

/// What became of the tasks, by task.
std::map<std::string, FinishedTask> run_all(WorkerPool& pool, std::vector<std::string> tasks) {
  std::map<std::string, FinishedTask> finished;
  while (!tasks.empty() || pool.has_tasks()) {
    while (!tasks.empty() && pool.has_room()) {
      const TaskLength length = tasks.size() % 2 == 0 ? TaskLength::brief : TaskLength::unknown;
      REQUIRE(pool.start(std::move(tasks.back()), length));
      tasks.pop_back();
    }
    for (FinishedTask& task : pool.wait(std::chrono::hours(1))) {
      const std::string name = task.task;
      CHECK(finished.emplace(name, std::move(task)).second);
    }
  }
  return finished;
}

TEST_CASE_FIXTURE(PoolCase, "every task has its own result, whatever the number of workers") {
  for (const std::size_t workers : {1U, 2U, 5U}) {
    WorkerPool pool(work, {.workers = workers, .time = {}, .prepare = {}, .note = note});
    const auto finished = run_all(pool, {"a", "b", "c", "long", "d", "nothing to note"});
    CHECK(finished.size() == 6);
    for (const auto& [name, task] : finished) {
      REQUIRE(task.result);
      CHECK(*task.result == (name == "long" ? std::string(1'000'000, 'x') : "did " + name));
      CHECK(task.note == note(name));
    }
    CHECK(run_all(pool, {"again"}).at("again").result == "did again");
  }
}

// A worker that a trace takes over could read, empty and forge the rows of all others.
TEST_CASE_FIXTURE(PoolCase, "a worker has no file of its parent") {
  const TemporaryDirectory directory;
  const std::string rows_file = directory.write("rows.ndjson", "{}");
  // As a shell hands one over, and as the program opens one.
  std::FILE* const rows = std::fopen(rows_file.c_str(), "r+");
  std::FILE* const own = std::fopen(rows_file.c_str(), "re");
  REQUIRE((rows != nullptr && own != nullptr));
  {
    WorkerPool pool(work, {.workers = 2, .time = {}, .prepare = {}, .note = note});
    const auto finished = run_all(pool, {"a", "list"});
    REQUIRE(finished.at("list").result);
    std::istringstream lines(*finished.at("list").result);
    std::size_t pipes = 0;
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      const bool is_pipe = line.starts_with("pipe:");
      pipes += is_pipe ? 1 : 0;
      CHECK(line.find("rows.ndjson") == std::string::npos);
    }
    CHECK(pipes >= 2);
  }
  CHECK((std::fclose(rows) == 0 && std::fclose(own) == 0));
}

TEST_CASE_FIXTURE(PoolCase, "a task that comes to grief takes no other with it") {
  WorkerPool pool(work, {.workers = 2, .time = {}, .prepare = {}, .note = note});
  const auto finished = run_all(pool, {"a", "crash", "b", "leave", "c", "throw", "d", "exhaust", "e"});
  CHECK(finished.size() == 9);
  for (const char* name : {"a", "b", "c", "d", "e"}) CHECK(finished.at(name).result == std::string("did ") + name);
  for (const char* name : {"crash", "leave", "throw", "exhaust"}) {
    CAPTURE(name);
    CHECK_FALSE(finished.at(name).result);
    CHECK(finished.at(name).note == note(name));
  }
  CHECK(finished.at("crash").failure == TaskFailure::killed);
  CHECK(finished.at("crash").last_words == "ended by signal 9: something is wrong");
  CHECK(finished.at("leave").failure == TaskFailure::crashed);
  CHECK(finished.at("leave").last_words == "ended with status 7");
  CHECK(finished.at("throw").failure == TaskFailure::out_of_memory);
  CHECK(finished.at("exhaust").failure == TaskFailure::out_of_memory);
}

TEST_CASE_FIXTURE(PoolCase, "a task whose note process is killed fails, and no more") {
  const auto killed_at = [](const std::string& task) {
    if (task == "b") ::raise(SIGKILL);
    return note(task);
  };
  WorkerPool pool(work, {.workers = 1, .time = {}, .prepare = {}, .note = killed_at});
  for (const char* name : {"a", "b", "c"}) {
    REQUIRE(pool.start(name));
    const auto finished = run_all(pool, {});
    CHECK(finished.at(name).result.has_value() == (name != std::string("b")));
    if (name == std::string("b")) CHECK(finished.at(name).failure == TaskFailure::killed);
  }
}

TEST_CASE_FIXTURE(PoolCase, "no task waits for a note for longer than it may take") {
  const auto never = [](const std::string& task) {
    ::pause();
    return task;
  };
  WorkerPool pool(work, {.workers = 1, .time = std::chrono::seconds(1), .prepare = {}, .note = never});
  REQUIRE(pool.start("a"));
  CHECK_FALSE(run_all(pool, {}).at("a").result);
}

TEST_CASE_FIXTURE(PoolCase, "a worker that answers more than it was asked is not believed") {
  WorkerPool pool(work, {.workers = 1, .time = {}, .prepare = {}, .note = note});
  const auto finished = run_all(pool, {"forge"});
  CHECK(finished.size() == 1);
  CHECK(run_all(pool, {"a"}).at("a").result == "did a");
}

TEST_CASE_FIXTURE(PoolCase, "a worker that gives no answer has crashed, and holds nobody up") {
  for (const char* lie : {"answer without end", "answer too much", "answer what is none", "close its pipes"}) {
    CAPTURE(lie);
    WorkerPool pool(work, {.workers = 1, .time = {}, .prepare = {}, .note = note});
    const auto finished = run_all(pool, {"a", lie, "b"});
    CHECK(finished.size() == 3);
    CHECK(finished.at("a").result == "did a");
    CHECK(finished.at("b").result == "did b");
    CHECK_FALSE(finished.at(lie).result);
    CHECK(finished.at(lie).note == note(lie));
    if (lie == std::string("close its pipes")) continue;  // then it is killed
    CHECK(finished.at(lie).failure == TaskFailure::crashed);
    CHECK(finished.at(lie).last_words == "answered what was not asked");
  }
}

TEST_CASE_FIXTURE(PoolCase, "a worker that answers before it is asked cannot start") {
  const auto prepare = [] {
    answer(message(2, 6, "forged"));
    return Result<void>();
  };
  WorkerPool pool(work, {.workers = 1, .time = {}, .prepare = prepare, .note = note});
  const Result<void> started = pool.start("a");
  REQUIRE_FALSE(started);
  CHECK(started.error().what.find("a worker process cannot start") != std::string::npos);
}

TEST_CASE_FIXTURE(PoolCase, "a task that takes too long is ended") {
  WorkerPool pool(work, {.workers = 2, .time = std::chrono::seconds(0), .prepare = {}, .note = note});
  const auto finished = run_all(pool, {"hang", "hang too"});
  CHECK_FALSE(finished.at("hang").result);
  CHECK(finished.at("hang").failure == TaskFailure::timed_out);
}

TEST_CASE_FIXTURE(PoolCase, "a worker that is killed before it is ready fails its task, and no more") {
  bool is_first = true;
  const auto prepare = [&] {
    if (is_first) ::raise(SIGKILL);
    return Result<void>();
  };
  WorkerPool pool(work, {.workers = 1, .time = {}, .prepare = prepare, .note = note});
  REQUIRE(pool.start("a"));
  is_first = false;
  const auto finished = run_all(pool, {"b"});
  CHECK(finished.at("a").failure == TaskFailure::killed);
  CHECK(finished.at("b").result == "did b");
}

TEST_CASE_FIXTURE(PoolCase, "a worker that cannot be prepared is told") {
  WorkerPool pool(work, {.workers = 1,
                         .time = {},
                         .prepare = [] { return Result<void>(fail("no room", "--max-memory 1")); },
                         .note = {}});
  const Result<void> started = pool.start("a", TaskLength::brief);
  REQUIRE_FALSE(started);
  CHECK(started.error().what.find("--max-memory 1: no room") != std::string::npos);
}

}  // namespace

}  // namespace doctor::worker_pool_test
