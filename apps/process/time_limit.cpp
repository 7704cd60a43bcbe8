#include "process/time_limit.h"

#include <pthread.h>

#include <cerrno>
#include <ctime>
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
};

AllowedTime& allowed_time() {
  static AllowedTime value;
  return value;
}

void sleep_until(Clock::time_point time) {
  const auto since_start = time.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_start);
  const timespec until = {static_cast<time_t>(seconds.count()),
                          static_cast<long>(std::chrono::nanoseconds(since_start - seconds).count())};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
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
  sleep_until(allowed_time().end + kGrace);
  end_late();
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

}  // namespace

void limit_time(std::chrono::seconds most) {
  allowed_time() = {most, Clock::now() + most, std::nullopt};
  start_watch();
}

void do_unwatched(const std::function<void()>& work) {
  const std::optional<pthread_t> thread = std::exchange(allowed_time().watch, std::nullopt);
  if (thread) {
    ::pthread_cancel(*thread);  // it sleeps, where it can be ended
    ::pthread_join(*thread, nullptr);
  }
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
