// Usage: measure_command COMMAND [ARGUMENT...]
//
// Runs a command and prints what it took as one line of JSON on standard error: CPU and wall time in seconds, peak
// resident memory in KB, and how it ended. The command's own output goes where it would go anyway.
//
// A program of its own because a process inherits the peak memory of the one that started it: started from Python, no
// program would seem to need less than Python does.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// What the child does.
[[noreturn]] void become(char** command) {
  ::execvp(command[0], command);
  std::fprintf(stderr, "measure_command: %s: %s\n", command[0], std::strerror(errno));
  ::_exit(127);
}

int fail(const char* what) {
  std::fprintf(stderr, "measure_command: %s: %s\n", what, std::strerror(errno));
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: measure_command COMMAND [ARGUMENT...]\n", stderr);
    return 2;
  }
  const auto before = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child < 0) return fail("fork");
  if (child == 0) become(argv + 1);

  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) return fail("wait4");
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - before;

  // On a line of its own, whatever the command printed last.
  std::fprintf(stderr,
               "\n{\"user_s\": %.6f, \"system_s\": %.6f, \"wall_s\": %.6f, \"peak_kb\": %ld, \"exit_status\": %d, "
               "\"signal\": %d}\n",
               seconds(usage.ru_utime), seconds(usage.ru_stime), wall.count(), usage.ru_maxrss,
               WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  return 0;
}
