#include "process/time_limit.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "process/last_words.h"

namespace doctor {
namespace {

using Clock = std::chrono::steady_clock;

/// What notices the time itself, as SQL does, ends by itself with a better message.
constexpr std::chrono::milliseconds kGrace{500};
constexpr std::size_t kStack = std::size_t{256} << 10;

struct AllowedTime {
  std::chrono::seconds most{};
  Clock::time_point end = Clock::time_point::max();
  std::optional<pthread_t> watch;  ///< the thread that ends the program
  std::mutex mutex;
  std::condition_variable stopping;
  bool is_stopping = false;  ///< the thread is to end, not the program; guarded by `mutex`
};

AllowedTime& allowed_time() {
  static auto* const value = new AllowedTime;  // never destroyed: the thread waits in it until the program is gone
  return *value;
}

[[noreturn]] void end_late() {
  FixedText message;
  message.add("tfdata-doctor: takes longer than --timeout ");
  message.add(std::to_string(allowed_time().most.count()));
  message.add(" allows (");
  add_place(message);
  message.add("); allow more (0: no limit), try a shorter trace, or fewer files at once\n");
  end_with(message);
}

void* watch(void* /*unused*/) {
  AllowedTime& time = allowed_time();
  std::unique_lock lock(time.mutex);
  if (!time.stopping.wait_until(lock, time.end + kGrace, [&] { return time.is_stopping; })) end_late();
  return nullptr;
}

void start_watch() {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return;
  // A stack counts as a whole under a limit on memory.
  ::pthread_attr_setstacksize(&attributes, kStack);
  pthread_t thread{};
  // Where no thread can be had, there is no time limit: the work itself may need none.
  if (::pthread_create(&thread, &attributes, watch, nullptr) == 0) allowed_time().watch = thread;
  ::pthread_attr_destroy(&attributes);
}

void stop_watch(pthread_t thread) {
  AllowedTime& time = allowed_time();
  {
    const std::scoped_lock lock(time.mutex);
    time.is_stopping = true;
  }
  time.stopping.notify_one();
  ::pthread_join(thread, nullptr);
  time.is_stopping = false;
}

}  // namespace

void limit_time(std::chrono::seconds most) {
  allowed_time().most = most;
  allowed_time().end = Clock::now() + most;
  start_watch();
}

void do_unwatched(const std::function<void()>& work) {
  const std::optional<pthread_t> thread = std::exchange(allowed_time().watch, std::nullopt);
  if (thread) stop_watch(*thread);
  work();
  if (thread) start_watch();
}

std::optional<std::chrono::seconds> time_limit() {
  return allowed_time().end == Clock::time_point::max() ? std::nullopt : std::optional(allowed_time().most);
}

bool is_time_over() {
  return Clock::now() >= allowed_time().end;
}

}  // namespace doctor
