// Loaded into the program by intrusion_test.cpp: code that has taken a command over. As soon as the command has its
// filter of system calls, so before it reads the first byte of a trace, this tries to get out and writes to standard
// error what it could do. $INTRUDER_FOLDER is where the command's output is to be, with a file "secret" in it.

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

long plain_call(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  long result = 0;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  const long result = x0;
#endif
  if (result >= -4095 && result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}

std::string succeeded;
int tried = 0;

void attempt(const char* name, bool has_succeeded) {
  ++tried;
  if (has_succeeded) succeeded += std::string(" ") + name;
}

bool opens(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

void attempt_files(const std::string& folder) {
  const std::string secret = folder + "/secret";
  attempt("make-beside-output", opens(folder + "/planted", O_WRONLY | O_CREAT));
  attempt("make-unnamed-file", opens(folder, O_WRONLY | O_TMPFILE));
  attempt("read-neighbour", opens(secret, O_RDONLY));
  attempt("overwrite-neighbour", opens(secret, O_WRONLY));
  attempt("read-password-file", opens("/etc/passwd", O_RDONLY));
  attempt("read-memory-of-parent", opens("/proc/" + std::to_string(::getppid()) + "/mem", O_RDONLY));
  attempt("truncate", ::truncate(secret.c_str(), 0) == 0);
  attempt("remove", ::unlink(secret.c_str()) == 0);
  attempt("rename", ::rename(secret.c_str(), (folder + "/moved").c_str()) == 0);
  attempt("link", ::link(secret.c_str(), (folder + "/second").c_str()) == 0);
  attempt("make-folder", ::mkdir((folder + "/folder").c_str(), 0700) == 0);
  attempt("make-symbolic-link", ::symlink("/etc/passwd", (folder + "/symbolic").c_str()) == 0);
  attempt("make-pipe", ::mkfifo((folder + "/pipe").c_str(), 0600) == 0);
  attempt("change-mode", ::chmod(secret.c_str(), 0777) == 0);
  attempt("write-to-tmp", opens("/tmp/tfdata-doctor-planted-" + std::to_string(::getpid()), O_WRONLY | O_CREAT));
}

void attempt_processes(const std::string& folder) {
  char* const nothing[] = {nullptr};
  attempt("signal-parent", ::kill(::getppid(), 0) == 0);
  attempt("signal-group", ::kill(0, 0) == 0);
  attempt("trace-parent", ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr) == 0);
  attempt("limit-parent", ::prlimit(::getppid(), RLIMIT_NOFILE, nullptr, nullptr) == 0 && ::getppid() != 0);
  char byte = 0;
  iovec own = {&byte, 1};
  attempt("look-into-parent", ::process_vm_readv(::getppid(), &own, 1, &own, 1, 0) >= 0);
  const long child = plain_call(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
  if (child == 0) plain_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
  attempt("make-process", child > 0);
  attempt("execute", ::execve("/bin/true", nothing, nothing) == 0);
  const int program = ::memfd_create("program", 0);
  attempt("execute-from-memory", plain_call(SYS_execveat, program, reinterpret_cast<long>(""), 0, 0, 0x1000, 0) == 0);
  attempt("change-root", ::chroot(folder.c_str()) == 0);
}

void attempt_network() {
  attempt("internet-socket", ::socket(AF_INET, SOCK_STREAM, 0) >= 0);
  attempt("local-socket", ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
  attempt("netlink-socket", ::socket(AF_NETLINK, SOCK_RAW, 0) >= 0);
  attempt("io-uring", plain_call(425, 8, 0, 0, 0, 0, 0) >= 0);
  attempt("user-namespace", plain_call(SYS_unshare, 0x10000000, 0, 0, 0, 0, 0) == 0);
}

[[noreturn]] void intrude() {
  const char* const folder = std::getenv("INTRUDER_FOLDER");
  attempt_files(folder);
  attempt_processes(folder);
  attempt_network();
  const std::string report =
      "tried " + std::to_string(tried) + "; succeeded:" + (succeeded.empty() ? " none" : succeeded) + "\n";
  plain_call(SYS_write, 2, reinterpret_cast<long>(report.data()), static_cast<long>(report.size()), 0, 0, 0);
  plain_call(SYS_exit_group, 99, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}

/// The process that writes for another one has read nothing, and is not what is taken over: its standard error leads
/// nowhere.
bool is_broker() {
  struct stat errors {};
  struct stat nothing {};
  return ::fstat(2, &errors) == 0 && ::stat("/dev/null", &nothing) == 0 && errors.st_rdev == nothing.st_rdev &&
         errors.st_ino == nothing.st_ino;
}

}  // namespace

/// In place of the C library's.
extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) noexcept {
  va_list values;
  va_start(values, number);
  long argument[6];
  for (long& value : argument) value = va_arg(values, long);
  va_end(values);
  const long result = plain_call(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
  if (number == SYS_seccomp && argument[0] == SECCOMP_SET_MODE_FILTER && !is_broker()) intrude();
  return result;
}
