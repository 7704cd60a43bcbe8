#pragma once

#include <array>
#include <chrono>
#include <csignal>

namespace doctor {

/// While it exists, Ctrl-C and `kill` set interrupting_signal() in place of ending the program, so that it ends with
/// nothing half done. A second signal ends it at once.
class InterruptionGuard {
 public:
  InterruptionGuard();
  InterruptionGuard(const InterruptionGuard&) = delete;
  InterruptionGuard& operator=(const InterruptionGuard&) = delete;
  ~InterruptionGuard();

 private:
  static constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};
  std::array<struct sigaction, 2> before_{};
};

/// The signal that came while there was a guard; 0 if none did.
int interrupting_signal();

/// Waits, less if a signal comes. Returns false once one came.
bool wait_unless_interrupted(std::chrono::milliseconds time);

/// Ends the program as the signal would have, so that a shell or a script stops too.
void end_by_signal(int signal);

}  // namespace doctor
