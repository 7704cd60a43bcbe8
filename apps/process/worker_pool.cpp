#include "process/worker_pool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>

#include "base/try.h"
#include "io/file_io.h"
#include "process/process_limits.h"

namespace doctor {
namespace {

// How a worker ends; no library that it uses ends a process with these.
constexpr int kOutOfMemory = 113;

constexpr std::size_t kMostLastWords = 400;

// A worker that was not taken over needs a moment for each.
constexpr std::chrono::seconds kTimeToStart{60};
constexpr std::chrono::seconds kTimeToEnd{5};

/// Before each note, so that one of nothing is one, too.
constexpr char kNoted = '.';

std::string read_last_words(int file) {
  std::string words(kMostLastWords, '\0');
  const ssize_t count = ::pread(file, words.data(), words.size(), 0);
  words.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  return words;
}

std::string words_of_end(int status, const std::string& printed) {
  std::string words = WIFSIGNALED(status) ? fmt::format("ended by signal {}", WTERMSIG(status))
                                          : fmt::format("ended with status {}", WEXITSTATUS(status));
  return printed.empty() ? words : words + ": " + printed;
}

/// How it ended.
int kill_at_once(pid_t process) {
  int status = 0;
  ::kill(process, SIGKILL);
  uninterrupted([&] { return ::waitpid(process, &status, 0); });
  return status;
}

bool was_killed(int status) {
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/// Whether another process ended it, or the system for want of memory; its end is still to be waited for.
bool is_killed(pid_t process) {
  siginfo_t end = {};
  const int waited =
      uninterrupted([&] { return ::waitid(P_PID, static_cast<id_t>(process), &end, WEXITED | WNOWAIT); });
  return waited == 0 && end.si_code == CLD_KILLED && end.si_status == SIGKILL;
}

/// How long it is until then, in what poll() takes.
std::chrono::milliseconds time_until(std::chrono::steady_clock::time_point deadline) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24);
  const auto left = deadline - std::chrono::steady_clock::now();
  return std::clamp(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(0), kLongest);
}

}  // namespace

WorkerPool::WorkerPool(Work work, Limits limits) : work_(std::move(work)), limits_(std::move(limits)) {
  workers_.reserve(limits_.workers);
  for (std::size_t index = 0; index < limits_.workers; ++index) workers_.push_back(std::make_unique<Worker>());
}

WorkerPool::~WorkerPool() {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->process >= 0) end(*worker);
  }
}

void WorkerPool::end(Worker& worker) {
  // One that waits for a task ends as a profiler can follow, and the end of its pipe shows it.
  if (!worker.task) {
    ::kill(worker.process, SIGTERM);
    static_cast<void>(comes(worker.replies.number(), 0, kTimeToEnd));
  }
  kill_at_once(worker.process);
  if (worker.note_process > 0) kill_at_once(worker.note_process);
  worker = Worker();
}

bool WorkerPool::has_room() const {
  return std::ranges::any_of(workers_, [](const auto& worker) { return !worker->task; });
}

bool WorkerPool::has_tasks() const {
  return std::ranges::any_of(workers_, [](const auto& worker) { return worker->task.has_value(); });
}

/// One that is prepared, else a new one.
Result<WorkerPool::Worker*> WorkerPool::idle_worker() {
  Worker* idle = nullptr;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->task) continue;
    if (worker->process >= 0 && worker->generation == generation_) return worker.get();
    idle = worker.get();
  }
  if (idle->process >= 0) end(*idle);
  RETURN_IF_ERROR(launch(*idle));
  return idle;
}

Result<void> WorkerPool::launch(Worker& worker) {
  ASSIGN_OR_RETURN(Pipe tasks, make_pipe());
  ASSIGN_OR_RETURN(Pipe replies, make_pipe());
  FileDescriptor last_words(::memfd_create("worker", MFD_CLOEXEC));
  worker.process = fork_child();
  if (worker.process == 0) {
    forget_workers();
    run_worker(tasks.read_end.number(), replies.write_end.number(), last_words.number());
  }
  if (worker.process < 0) return fail(std::string("no process can be had: ") + std::strerror(errno), {});
  worker.generation = generation_;
  worker.tasks = std::move(tasks.write_end);
  worker.replies = std::move(replies.read_end);
  worker.last_words = std::move(last_words);
  ::fcntl(worker.tasks.number(), F_SETFL, O_NONBLOCK);
  replies.write_end = FileDescriptor();  // so that its end shows
  return wait_until_ready(worker);
}

Result<void> WorkerPool::wait_until_ready(Worker& worker) {
  if (!comes(worker.replies.number(), POLLIN, kTimeToStart)) {
    end(worker);
    return fail(fmt::format("a worker process has not started within {} s", kTimeToStart.count()), {});
  }
  const std::optional<Message> ready = receive(worker.replies.number(), worker.unread);
  if (ready && ready->kind == MessageKind::ready) return {};
  if (!ready && is_killed(worker.process)) return {};  // as one that is killed later: its first task fails
  const FinishedTask ended = take_ended(worker);
  return fail("a worker process cannot start: " + ended.last_words, {});
}

void WorkerPool::forget_workers() {
  // What other workers listen to must end with the parent alone.
  for (const std::unique_ptr<Worker>& other : workers_) *other = Worker();
}

Result<void> WorkerPool::start_note_process(Worker& worker) {
  ASSIGN_OR_RETURN(Pipe noted, make_pipe());
  worker.note_process = fork_child();
  if (worker.note_process == 0) run_note_process(noted.write_end.number(), *worker.task);
  if (worker.note_process < 0) return fail(std::string("no process can be had: ") + std::strerror(errno), {});
  worker.noted = std::move(noted.read_end);
  return {};
}

void WorkerPool::run_note_process(int noted, const std::string& task) noexcept {
  std::signal(SIGINT, SIG_IGN);
  static_cast<void>(write_all(noted, kNoted + limits_.note(task)));  // the end of the pipe tells
  ::_exit(0);
}

void WorkerPool::run_worker(int tasks, int replies, int last_words) {
  if (last_words >= 0) ::dup2(last_words, STDERR_FILENO);
  close_all_but(tasks, replies, limits_.kept);
  keep_small_blocks();
  // A Ctrl-C is for the parent, which ends all workers.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  int status = 0;
  try {
    if (limits_.prepare) {
      if (const Result<void> prepared = limits_.prepare(); !prepared) {
        static_cast<void>(write_all(STDERR_FILENO, to_string(prepared.error())));
        ::_exit(kWorkerNotPrepared);
      }
    }
    // An exception could be swallowed on its way, and the result be that of half a task.
    std::set_new_handler([] { ::_exit(kOutOfMemory); });
    std::string unread;
    bool is_heard = send(replies, MessageKind::ready, {});
    while (is_heard) {
      const std::optional<Message> task = receive(tasks, unread);
      if (!task) break;
      is_heard = send(replies, MessageKind::result, work_(task->text));
    }
  } catch (const std::bad_alloc&) {
    status = kOutOfMemory;
  } catch (const std::exception& error) {
    static_cast<void>(write_all(STDERR_FILENO, std::string("internal error: ") + error.what()));
    status = kWorkerNotPrepared;
  }
  ::_exit(status);  // not exit(): what the parent has open and registered is its own
}

Result<void> WorkerPool::start(std::string task, TaskLength length) {
  ASSIGN_OR_RETURN(Worker* const worker, idle_worker());
  worker->task = std::move(task);
  worker->deadline = limits_.time ? Clock::now() + *limits_.time : Clock::time_point::max();
  // A worker that ended meanwhile shows when its reply is waited for, and so does one that is ended here.
  if (!send(worker->tasks.number(), MessageKind::task, *worker->task)) ::kill(worker->process, SIGKILL);
  worker->note.clear();
  if (!limits_.note) return {};
  if (length == TaskLength::unknown) return start_note_process(*worker);
  worker->note = limits_.note(*worker->task);
  return {};
}

/// Waits for the note process until the deadline of the task. False if there is no note.
bool WorkerPool::take_note(Worker& worker) {
  if (worker.note_process < 0) return true;
  std::string noted;
  while (comes(worker.noted.number(), POLLIN, time_until(worker.deadline)) && read_more(worker.noted.number(), noted)) {
  }
  kill_at_once(std::exchange(worker.note_process, -1));
  if (!noted.empty()) worker.note = noted.substr(1);
  return !noted.empty();
}

FinishedTask WorkerPool::fail_task(Worker& worker, TaskFailure failure, std::string last_words) {
  take_note(worker);
  FinishedTask finished = {worker.task.value_or(""), std::move(worker.note), {}, failure, std::move(last_words)};
  worker = Worker();
  return finished;
}

FinishedTask WorkerPool::take_ended(Worker& worker) {
  // How it ends is settled, unless it closed its pipe to be waited for.
  const int status = kill_at_once(worker.process);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kOutOfMemory)
    return fail_task(worker, TaskFailure::out_of_memory, {});
  return fail_task(worker, was_killed(status) ? TaskFailure::killed : TaskFailure::crashed,
                   words_of_end(status, read_last_words(worker.last_words.number())));
}

FinishedTask WorkerPool::take_answer(Worker& worker, std::string answer) {
  if (!take_note(worker)) {
    kill_at_once(worker.process);
    return fail_task(worker, TaskFailure::killed, {});
  }
  FinishedTask finished = {*std::exchange(worker.task, {}), std::move(worker.note), std::move(answer)};
  if (!worker.unread.empty()) take_ended(worker);  // it says more than it was asked
  return finished;
}

/// What became of the task; nullopt while the answer is not whole.
std::optional<FinishedTask> WorkerPool::hear(Worker& worker) {
  const bool has_ended = !read_more(worker.replies.number(), worker.unread);
  const bool may_answer = may_be_answer(worker.unread);
  std::optional<Message> answer = may_answer ? take_message(worker.unread) : std::nullopt;
  if (answer) return take_answer(worker, std::move(answer->text));
  if (may_answer && !has_ended) return std::nullopt;
  FinishedTask failed = take_ended(worker);
  if (!may_answer) failed.failure = TaskFailure::crashed;
  if (!may_answer) failed.last_words = "answered what was not asked";
  return failed;
}

std::vector<FinishedTask> WorkerPool::wait(std::chrono::milliseconds most) {
  std::vector<pollfd> polled;
  std::vector<Worker*> busy;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (!worker->task) continue;
    polled.push_back({worker->replies.number(), POLLIN, 0});
    busy.push_back(worker.get());
    most = std::min(most, time_until(worker->deadline));
  }
  std::vector<FinishedTask> finished;
  if (::poll(polled.data(), polled.size(), static_cast<int>(most.count())) < 0) return finished;
  for (std::size_t index = 0; index < busy.size(); ++index) {
    Worker& worker = *busy[index];
    if (polled[index].revents != 0) {
      if (std::optional<FinishedTask> task = hear(worker)) finished.push_back(*std::move(task));
    } else if (Clock::now() >= worker.deadline) {
      kill_at_once(worker.process);
      finished.push_back(fail_task(worker, TaskFailure::timed_out, {}));
    }
  }
  return finished;
}

}  // namespace doctor
