// Usage: measure_command COMMAND [ARGUMENT...]
//
// Runs a command and prints what it took as one line of JSON on standard error: CPU and wall time in seconds, peak
// resident memory in KB, how it ended, and the instructions that it executed outside the kernel (null where the machine
// does not count them). The command's own output goes where it would go anyway.
//
// A program of its own because a process inherits the peak memory of the one that started it: started from Python, no
// program would seem to need less than Python does.

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Counts the instructions of `process` and all its threads and children from its exec on; -1 where that is not
/// possible.
int open_counter(pid_t process) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.disabled = 1;
  attributes.enable_on_exec = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, process, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::string read_counter(int counter) {
  std::uint64_t value = 0;
  if (counter < 0 || ::read(counter, &value, sizeof value) != sizeof value || value == 0) return "null";
  return std::to_string(value);
}

/// The child: waits until the counter stands, then becomes the command.
[[noreturn]] void become(char** command, int start) {
  char go = 0;
  if (::read(start, &go, 1) == 1) ::execvp(command[0], command);
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
  int start[2];
  if (::pipe2(start, O_CLOEXEC) != 0) return fail("pipe");
  const pid_t child = ::fork();
  if (child < 0) return fail("fork");
  if (child == 0) {
    ::close(start[1]);
    become(argv + 1, start[0]);
  }

  const int counter = open_counter(child);
  const auto before = std::chrono::steady_clock::now();
  if (::write(start[1], "g", 1) != 1) return fail("write");
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) return fail("wait4");
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - before;

  std::fprintf(stderr,
               "{\"user_s\": %.6f, \"system_s\": %.6f, \"wall_s\": %.6f, \"peak_kb\": %ld, \"exit_status\": %d, "
               "\"signal\": %d, \"instructions\": %s}\n",
               seconds(usage.ru_utime), seconds(usage.ru_stime), wall.count(), usage.ru_maxrss,
               WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
               read_counter(counter).c_str());
  return 0;
}
