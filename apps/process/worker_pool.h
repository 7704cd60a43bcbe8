#pragma once

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
  std::string last_words = {};  ///< of a worker that crashed or was killed: how it ended, and what it printed last
};

/// The time that a task takes.
enum class TaskLength {
  unknown,
  brief,  ///< so short that all tasks may wait for its note
};

/// Works on tasks in processes of their own, so that one that crashes, hangs or needs too much memory does not affect
/// the others.
///
/// No worker is trusted, because a task may take it over. An answer must be short and for a task that was handed out,
/// else the worker is ended as one that crashed. Facts about a task that must be certain are noted outside of the
/// worker: for a brief task by this process, for others by a process that is forked for it.
///
/// Linux. Make it before any thread is started: processes are forked later, too. SIGPIPE must be ignored, because a
/// task may be sent to a worker that has just ended.
class WorkerPool {
 public:
  /// The function of a worker for a task. Its answer has kMostAnswer bytes at most.
  using Work = std::function<std::string(const std::string& task)>;
  static constexpr std::size_t kMostAnswer = kMostWorkerAnswer;

  struct Limits {
    std::size_t workers = 1;
    std::optional<std::chrono::seconds> time;  ///< of one task
    std::function<Result<void>()> prepare;     ///< run first in every worker, e.g. to limit its memory; may be empty
    /// makes the note of a task while it is worked on; may be empty
    std::function<std::string(const std::string& task)> note;
    int kept = -1;  ///< a descriptor of this process that tasks read from; workers have no other
  };

  WorkerPool(Work work, Limits limits);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Ends all workers, whatever they do.
  ~WorkerPool();

  /// Tests whether a worker is free.
  bool has_room() const;

  /// Replaces each worker by a new one, which is prepared anew, before it gets its next task.
  void renew_workers() { ++generation_; }

  bool has_tasks() const;

  /// Starts a task; there must be room. Errors: no process can be had, or it cannot be prepared.
  Result<void> start(std::string task, TaskLength length = TaskLength::unknown);

  /// Waits until tasks end, or for the given time. Returns the tasks that ended.
  std::vector<FinishedTask> wait(std::chrono::milliseconds most);

 private:
  using Clock = std::chrono::steady_clock;

  struct Worker {
    pid_t process = -1;
    pid_t note_process = -1;    ///< of its task; -1: this process has noted it
    FileDescriptor tasks;       ///< to the worker
    FileDescriptor replies;     ///< from the worker
    FileDescriptor last_words;  ///< the file that it prints its errors to
    FileDescriptor noted;       ///< from the note process
    std::string note;
    std::string unread;  ///< the beginning of a message
    std::size_t generation = 0;
    std::optional<std::string> task;  ///< what it works on
    Clock::time_point deadline;       ///< of the task
  };

  Result<Worker*> idle_worker();
  static void end(Worker& worker);
  Result<void> launch(Worker& worker);
  Result<void> wait_until_ready(Worker& worker);
  void forget_workers();
  Result<void> start_note_process(Worker& worker);
  [[noreturn]] void run_worker(int tasks, int replies, int last_words);
  [[noreturn]] void run_note_process(int noted, const std::string& task) noexcept;
  static bool take_note(Worker& worker);
  static std::optional<FinishedTask> hear(Worker& worker);
  static FinishedTask take_answer(Worker& worker, std::string answer);
  static FinishedTask fail_task(Worker& worker, TaskFailure failure, std::string last_words);
  static FinishedTask take_ended(Worker& worker);

  Work work_;
  Limits limits_;
  std::size_t generation_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace doctor
