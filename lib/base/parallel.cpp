#include "base/parallel.h"

#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace doctor {

void run_parallel(unsigned threads, std::size_t count, const std::function<void(std::size_t task)>& run) {
  run_parallel(threads, count, [&](std::size_t task, std::size_t) { run(task); });
}

void run_parallel(unsigned threads, std::size_t count,
                  const std::function<void(std::size_t task, std::size_t worker)>& run) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&](std::size_t worker) {
    try {
      for (std::size_t task = next++; task < count; task = next++) run(task, worker);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    helpers.reserve(threads);
    try {
      while (helpers.size() + 1 < std::min<std::size_t>(threads, count)) helpers.emplace_back(work, helpers.size() + 1);
    } catch (const std::system_error&) {
      // The system gives no more threads: those that there are do the work.
    }
    work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

unsigned threads_for(const WorkOptions& work, std::size_t rows) {
  constexpr std::size_t kFewRows = 4096;
  return rows < kFewRows ? 1 : std::max(work.threads, 1u);
}

}  // namespace doctor
