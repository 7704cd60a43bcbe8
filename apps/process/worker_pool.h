#pragma once

#include <deque>
#include <memory>

#include "base/result.h"
#include "io/file_descriptor.h"
#include "process/child_process.h"

namespace doctor {

/// The reason why a task has no result.
enum class TaskFailure {
  timed_out,
  out_of_memory,
  killed,  ///< by SIGKILL, so by another process: the kernel does it when memory runs out, and it may pass
  crashed,
};

/// A task that ended.
struct FinishedTask {
  std::string task;
  std::string note;                   ///< Limits::note for it; empty if it failed before there was one
  std::optional<std::string> result;  ///< nullopt if the task failed
  TaskFailure failure = TaskFailure::crashed;
  std::string last_words;  ///< of a worker that crashed or was killed: how it ended, and what it printed last
};

/// The time that a task keeps a worker.
enum class TaskLength {
  unknown,
  brief,  ///< so short that another task may wait for it
};

/// Works on tasks in processes of their own, so that one that crashes, hangs or needs too much memory does not affect
/// the others.
///
/// No worker is trusted, because a task may take it over. An answer must be short and for a task that was handed out,
/// else the worker is ended as one that crashed. Facts about a task that must be certain are noted before the worker
/// gets it: for a brief task by this process, for others by a second process, the note process of the worker.
///
/// Linux. Make it before any thread is started: workers are forked, also later, to replace those that ended. SIGPIPE
/// must be ignored, because a task may be sent to a worker that has just ended.
class WorkerPool {
 public:
  /// The function of a worker for a task. Its answer has kMostAnswer bytes at most.
  using Work = std::function<std::string(const std::string& task)>;
  static constexpr std::size_t kMostAnswer = kMostWorkerAnswer;

  struct Limits {
    std::size_t workers = 1;
    std::optional<std::chrono::seconds> time;  ///< of one task
    std::function<Result<void>()> prepare;     ///< run first in every worker, e.g. to limit its memory; may be empty
    /// makes the note of a task before it is worked on; may be empty
    std::function<std::string(const std::string& task)> note;
    int kept = -1;  ///< a descriptor of this process that tasks read from; workers have no other
  };

  WorkerPool(Work work, Limits limits);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Ends all workers, whatever they do.
  ~WorkerPool();

  /// Tests whether start() may be called: each worker has at most one task beside the one that it works on.
  bool has_room() const;

  /// Replaces each worker by a new one, which is prepared anew, before it gets its next task.
  void renew_workers() { ++generation_; }

  bool has_tasks() const;

  /// Starts a task as soon as a worker is free; there must be room. A brief one is handed to a busy worker, so that the
  /// worker need not wait for this process when it is done; if the worker ends first, another gets the task. Errors: no
  /// process can be had, or it cannot be prepared.
  Result<void> start(std::string task, TaskLength length = TaskLength::unknown);

  /// Waits until tasks end, or for the given time. Returns the tasks that ended, those of one worker in their order.
  /// Errors as of start().
  Result<std::vector<FinishedTask>> wait(std::chrono::milliseconds most);

 private:
  using Clock = std::chrono::steady_clock;

  struct Task {
    std::string text;
    TaskLength length = TaskLength::unknown;
    std::optional<std::string> note;  ///< of a brief task that was handed out
  };

  /// With two tasks a worker that is done has its next task at hand; more would save nothing.
  static constexpr std::size_t kMostTasksOfWorker = 2;

  struct Worker {
    pid_t process = -1;
    pid_t note_process = -1;
    FileDescriptor requests;     ///< to the note process
    FileDescriptor brief_tasks;  ///< to the worker, where tasks from the note process also arrive
    FileDescriptor replies;      ///< from the worker
    FileDescriptor last_words;   ///< the file that it prints its errors to
    SharedNote note;             ///< written by the note process
    std::string unread;          ///< the beginning of a message
    std::size_t generation = 0;
    std::deque<Task> tasks;                                 ///< it works on the first; if there are two, both are brief
    Clock::time_point deadline = Clock::time_point::max();  ///< of the first task
  };

  Result<void> hand_out();
  Result<Worker*> worker_for(const Task& task);
  void hand(Worker& worker, Task task);
  void set_deadline(Worker& worker) const;
  static void end(Worker& worker);
  static std::optional<std::string> note_of_first_task(const Worker& worker);
  Result<void> launch(Worker& worker);
  Result<void> wait_until_ready(Worker& worker);
  void forget_other_workers();
  [[noreturn]] void run_note_process(int requests, int tasks, SharedNote& note);
  [[noreturn]] void run_worker(int tasks, int replies, int last_words);
  void take_messages(Worker& worker, std::vector<FinishedTask>& finished);
  bool take_answer(Worker& worker, std::string answer, std::vector<FinishedTask>& finished);
  FinishedTask fail_task(Worker& worker, TaskFailure failure, std::string last_words);
  FinishedTask take_ended(Worker& worker);
  int time_to_deadline(std::chrono::milliseconds most) const;

  Work work_;
  Limits limits_;
  std::size_t generation_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::deque<Task> waiting_;  ///< until a worker is free
};

}  // namespace doctor
