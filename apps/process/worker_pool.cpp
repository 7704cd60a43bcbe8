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

/// How it had ended; 0 of one that had not.
int kill_if_running(pid_t process) {
  int status = 0;
  if (uninterrupted([&] { return ::waitpid(process, &status, WNOHANG); }) == 0) kill_at_once(process);
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
  if (worker.tasks.empty()) {
    ::kill(worker.process, SIGTERM);
    static_cast<void>(comes(worker.replies.number(), 0, kTimeToEnd));
  }
  kill_at_once(worker.process);
  kill_at_once(worker.note_process);
  worker = Worker();
}

bool WorkerPool::has_room() const {
  std::size_t tasks = waiting_.size();
  for (const std::unique_ptr<Worker>& worker : workers_) tasks += worker->tasks.size();
  return tasks < workers_.size() * kMostTasksOfWorker;
}

bool WorkerPool::has_tasks() const {
  return !waiting_.empty() || std::ranges::any_of(workers_, [](const auto& worker) { return !worker->tasks.empty(); });
}

/// nullptr where the task must wait.
Result<WorkerPool::Worker*> WorkerPool::worker_for(const Task& task) {
  Worker* idle = nullptr;
  Worker* busy = nullptr;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    const bool is_prepared = worker->process >= 0 && worker->generation == generation_;
    if (worker->tasks.empty()) {
      if (is_prepared) return worker.get();
      idle = worker.get();
    } else if (is_prepared && worker->tasks.size() < kMostTasksOfWorker &&
               worker->tasks.front().length == TaskLength::brief) {
      busy = worker.get();  // a brief task would overtake one that its note process still has
    }
  }
  if (idle == nullptr) return task.length == TaskLength::brief ? busy : nullptr;
  if (idle->process >= 0) end(*idle);
  RETURN_IF_ERROR(launch(*idle));
  return idle;
}

Result<void> WorkerPool::launch(Worker& worker) {
  ASSIGN_OR_RETURN(Pipe requests, make_pipe());
  ASSIGN_OR_RETURN(Pipe tasks, make_pipe());
  ASSIGN_OR_RETURN(Pipe replies, make_pipe());
  FileDescriptor last_words(::memfd_create("worker", MFD_CLOEXEC));
  ASSIGN_OR_RETURN(SharedNote note, SharedNote::make());
  worker = Worker();
  worker.note_process = fork_child();
  if (worker.note_process == 0) {
    forget_other_workers();
    for (FileDescriptor* const end : {&requests.write_end, &tasks.read_end, &replies.read_end, &replies.write_end}) {
      *end = FileDescriptor();
    }
    run_note_process(requests.read_end.number(), tasks.write_end.number(), note);
  }
  worker.process = worker.note_process < 0 ? -1 : fork_child();
  if (worker.process == 0) {
    forget_other_workers();
    note = SharedNote();  // it is not for whoever takes the worker over
    run_worker(tasks.read_end.number(), replies.write_end.number(), last_words.number());
  }
  if (worker.process < 0) {
    const int error = errno;
    if (worker.note_process > 0) kill_at_once(worker.note_process);
    worker = Worker();
    return fail(std::string("no process can be had: ") + std::strerror(error), {});
  }
  worker.generation = generation_;
  worker.requests = std::move(requests.write_end);
  worker.brief_tasks = std::move(tasks.write_end);
  worker.replies = std::move(replies.read_end);
  worker.last_words = std::move(last_words);
  worker.note = std::move(note);
  // The note process has the second of these, too.
  ::fcntl(worker.requests.number(), F_SETFL, O_NONBLOCK);
  ::fcntl(worker.brief_tasks.number(), F_SETFL, O_NONBLOCK);
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

void WorkerPool::forget_other_workers() {
  // What other workers listen to must end with the parent alone.
  for (const std::unique_ptr<Worker>& other : workers_) *other = Worker();
}

void WorkerPool::run_note_process(int requests, int tasks, SharedNote& note) {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  // It need not interrupt a worker that has its next task at hand.
  const sched_param priority = {};
  ::sched_setscheduler(0, SCHED_BATCH, &priority);
  try {
    std::string unread;
    while (const std::optional<Message> request = receive(requests, unread)) {
      note.write(kNoted + (limits_.note ? limits_.note(request->text) : ""));
      if (!send_soon(tasks, MessageKind::task, request->text)) break;
    }
  } catch (const std::exception&) {
    ::_exit(kWorkerNotPrepared);  // the end of the pipe ends the worker
  }
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
  waiting_.push_back({std::move(task), length, {}});
  return hand_out();
}

Result<void> WorkerPool::hand_out() {
  while (!waiting_.empty()) {
    ASSIGN_OR_RETURN(Worker* const worker, worker_for(waiting_.front()));
    if (worker == nullptr) break;
    hand(*worker, std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return {};
}

void WorkerPool::hand(Worker& worker, Task task) {
  const bool is_brief = task.length == TaskLength::brief;
  if (is_brief) {
    task.note = limits_.note ? limits_.note(task.text) : "";
  } else {
    worker.note.write({});
  }
  const int pipe = (is_brief ? worker.brief_tasks : worker.requests).number();
  // A worker that ended meanwhile shows when its reply is waited for, and so does one that is ended here.
  if (!send_soon(pipe, MessageKind::task, task.text)) ::kill(worker.process, SIGKILL);
  worker.tasks.push_back(std::move(task));
  if (worker.tasks.size() == 1) set_deadline(worker);
}

/// nullopt where the worker does not have the task yet.
std::optional<std::string> WorkerPool::note_of_first_task(const Worker& worker) {
  const Task& task = worker.tasks.front();
  if (task.length == TaskLength::brief) return task.note;
  const std::string note = worker.note.read();
  return note.empty() ? std::nullopt : std::optional(note.substr(1));
}

void WorkerPool::set_deadline(Worker& worker) const {
  worker.deadline = limits_.time ? Clock::now() + *limits_.time : Clock::time_point::max();
}

FinishedTask WorkerPool::fail_task(Worker& worker, TaskFailure failure, std::string last_words) {
  FinishedTask finished;
  finished.failure = failure;
  finished.last_words = std::move(last_words);
  if (!worker.tasks.empty()) {
    finished.note = note_of_first_task(worker).value_or("");
    finished.task = std::move(worker.tasks.front().text);
    waiting_.insert(waiting_.begin(), std::next(worker.tasks.begin()), worker.tasks.end());
  }
  worker = Worker();
  return finished;
}

FinishedTask WorkerPool::take_ended(Worker& worker) {
  // How it ends is settled, unless it closed its pipe to be waited for.
  const int status = kill_at_once(worker.process);
  const int status_of_note = kill_if_running(worker.note_process);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kOutOfMemory)
    return fail_task(worker, TaskFailure::out_of_memory, {});
  const bool is_killed = was_killed(status) || was_killed(status_of_note);
  return fail_task(worker, is_killed ? TaskFailure::killed : TaskFailure::crashed,
                   words_of_end(status, read_last_words(worker.last_words.number())));
}

void WorkerPool::take_messages(Worker& worker, std::vector<FinishedTask>& finished) {
  const bool has_ended = !read_more(worker.replies.number(), worker.unread);
  bool is_honest = may_be_answer(worker.unread);
  while (is_honest) {
    std::optional<Message> message = take_message(worker.unread);
    if (!message) break;
    is_honest = take_answer(worker, std::move(message->text), finished) && may_be_answer(worker.unread);
  }
  if (is_honest && !has_ended) return;
  const bool has_task = !worker.tasks.empty();
  FinishedTask failed = take_ended(worker);
  if (!is_honest) failed.failure = TaskFailure::crashed;
  if (!is_honest) failed.last_words = "answered what was not asked";
  if (has_task) finished.push_back(std::move(failed));
}

/// False where the worker does not have the task yet, so that it cannot know the answer.
bool WorkerPool::take_answer(Worker& worker, std::string answer, std::vector<FinishedTask>& finished) {
  if (worker.tasks.empty()) return false;
  std::optional<std::string> note = note_of_first_task(worker);
  if (!note) return false;
  finished.emplace_back();
  finished.back().task = std::move(worker.tasks.front().text);
  finished.back().note = *std::move(note);
  finished.back().result = std::move(answer);
  worker.tasks.pop_front();
  set_deadline(worker);
  return true;
}

int WorkerPool::time_to_deadline(std::chrono::milliseconds most) const {
  Clock::time_point first = Clock::now() + most;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (!worker->tasks.empty()) first = std::min(first, worker->deadline);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(0, left));
}

Result<std::vector<FinishedTask>> WorkerPool::wait(std::chrono::milliseconds most) {
  RETURN_IF_ERROR(hand_out());
  std::vector<pollfd> polled;
  std::vector<Worker*> busy;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->tasks.empty()) continue;
    polled.push_back({worker->replies.number(), POLLIN, 0});
    polled.push_back({worker->requests.number(), 0, 0});  // an error where its note process has ended
    busy.push_back(worker.get());
  }
  std::vector<FinishedTask> finished;
  if (::poll(polled.data(), polled.size(), time_to_deadline(most)) < 0) return finished;
  for (std::size_t index = 0; index < busy.size(); ++index) {
    Worker& worker = *busy[index];
    const bool has_note_process = polled[2 * index + 1].revents == 0;
    if (!has_note_process) ::kill(worker.process, SIGKILL);
    if (polled[2 * index].revents != 0 || !has_note_process) {
      take_messages(worker, finished);
    } else if (Clock::now() >= worker.deadline) {
      kill_at_once(worker.process);
      kill_at_once(worker.note_process);
      finished.push_back(fail_task(worker, TaskFailure::timed_out, {}));
    }
  }
  return finished;
}

}  // namespace doctor
