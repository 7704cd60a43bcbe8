#include "process/interruption.h"

#include <poll.h>

#include <algorithm>
#include <cstddef>

namespace doctor {
namespace {

constexpr std::chrono::milliseconds kLongestNap{200};  // a signal may come just before it

volatile std::sig_atomic_t interrupted_by = 0;

}  // namespace

InterruptionGuard::InterruptionGuard() {
  struct sigaction action {};
  action.sa_handler = [](int signal) { interrupted_by = signal; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t index = 0; index < kSignals.size(); ++index) ::sigaction(kSignals[index], &action, &before_[index]);
}

InterruptionGuard::~InterruptionGuard() {
  for (std::size_t index = 0; index < kSignals.size(); ++index) ::sigaction(kSignals[index], &before_[index], nullptr);
}

int interrupting_signal() {
  return interrupted_by;
}

bool wait_unless_interrupted(std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + time;
  while (interrupted_by == 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) break;
    ::poll(nullptr, 0, static_cast<int>(std::min(left, kLongestNap).count()));
  }
  return interrupted_by == 0;
}

void end_by_signal(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace doctor
