#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "base/work.h"

namespace doctor {

/// Calls `run(task)` once for each task in [0, count) on up to `threads` threads. The calling thread works too and
/// returns when all tasks are done; with one thread it does them all, in order. Tasks are handed out in order, so large
/// ones should come first. An exception of a task is rethrown here, and tasks that have not begun are skipped.
void run_parallel(unsigned threads, std::size_t count, const std::function<void(std::size_t task)>& run);
/// The same for threads that keep something of their own from task to task. `worker` is the number of the thread, below
/// `threads`; 0 where the caller works alone.
void run_parallel(unsigned threads, std::size_t count,
                  const std::function<void(std::size_t task, std::size_t worker)>& run);

/// The tasks [0, count) for run_parallel(), the largest by `size_of(task)` first. A large task that comes last would
/// keep one thread busy while the others wait.
template <typename SizeOf>
std::vector<std::size_t> largest_first(std::size_t count, SizeOf size_of) {
  std::vector<std::size_t> tasks(count);
  std::iota(tasks.begin(), tasks.end(), std::size_t{0});
  std::stable_sort(tasks.begin(), tasks.end(), [&](std::size_t a, std::size_t b) { return size_of(a) > size_of(b); });
  return tasks;
}

/// The number of threads that work on `rows` rows of a trace is worth. For a few thousand rows, starting a thread takes
/// longer than the work.
unsigned threads_for(const WorkOptions& work, std::size_t rows);

}  // namespace doctor
