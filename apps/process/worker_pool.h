#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/file_descriptor.h"

namespace doctor {

/// Why a task has no result.
enum class TaskFailure {
  timed_out,
  out_of_memory,
  killed,  ///< by SIGKILL, so by another process: a machine that is out of memory does it, and it may pass
  crashed,
};

/// A task that ended.
struct FinishedTask {
  std::string task;
  std::string note;                   ///< what the work noted of it last; empty if nothing
  std::optional<std::string> result;  ///< nullopt where the task failed
  TaskFailure failure = TaskFailure::crashed;
  std::string last_words;  ///< of a worker that crashed or was killed: how it ended, and what it printed last
};

/// Works on tasks in processes of their own, so that one that crashes, hangs or needs too much memory does not affect
/// the others. Linux. Make it before any thread is started: workers are forked, also later, in place of those that
/// ended.
class WorkerPool {
 public:
  /// What a worker does with a task. It may note something about the task before it is done.
  using Notify = std::function<void(std::string_view note)>;
  using Work = std::function<std::string(const std::string& task, const Notify& notify)>;

  struct Limits {
    std::size_t workers = 1;
    std::optional<std::chrono::seconds> time;  ///< of one task
    std::function<Result<void>()> prepare;     ///< run first in every worker, e.g. to limit its memory; may be empty
    int kept = -1;  ///< a descriptor of this process that tasks read from; workers have no other
  };

  WorkerPool(Work work, Limits limits);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Ends all workers, whatever they do.
  ~WorkerPool();

  bool has_free_worker() const;

  /// Has each worker replaced by a fresh one, which is prepared anew, before it gets its next task.
  void renew_workers() { ++generation_; }

  bool has_tasks() const;

  /// Starts a task; there must be a free worker. Errors: no process can be had, or it cannot be prepared.
  Result<void> start(std::string task);

  /// Waits until tasks end, or for so long. What ended, in no order.
  std::vector<FinishedTask> wait(std::chrono::milliseconds most);

 private:
  using Clock = std::chrono::steady_clock;

  struct Worker {
    pid_t process = -1;
    FileDescriptor requests;    ///< to it
    FileDescriptor replies;     ///< from it
    FileDescriptor last_words;  ///< a file that it prints its errors to
    std::string unread;         ///< the begin of a message
    std::size_t generation = 0;
    std::optional<FinishedTask> task;
    Clock::time_point deadline = Clock::time_point::max();
  };

  Result<Worker*> free_worker();
  static void end(Worker& worker);
  Result<void> launch(Worker& worker);
  [[noreturn]] void run_worker(int requests, int replies, int last_words);
  std::optional<FinishedTask> take_messages(Worker& worker);
  FinishedTask fail_task(Worker& worker, TaskFailure failure, std::string last_words);
  FinishedTask take_ended(Worker& worker);
  int time_to_deadline(std::chrono::milliseconds most) const;

  Work work_;
  Limits limits_;
  std::size_t generation_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace doctor
