#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "process/sandbox.h"

namespace doctor {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kMachine = 0;  // calls have other numbers there
#endif

// Numbers that newer kernels have, the same on all machines. The headers of the machine that builds may not have them.
constexpr std::uint32_t kRseq = sizeof(void*) == 8 && kMachine == AUDIT_ARCH_X86_64 ? 334 : 293;
constexpr std::uint32_t kClone3 = 435;
constexpr std::uint32_t kCloseRange = 436;
constexpr std::uint32_t kOpenat2 = 437;
constexpr std::uint32_t kFaccessat2 = 439;

/// What every command may do: compute on threads, look at files, read and write what is open. From `strace` of all
/// commands, and what other versions of the C library call in the same places.
constexpr std::uint32_t kAlways[] = {
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev, SYS_lseek,
    SYS_close, kCloseRange, SYS_dup, SYS_dup3, SYS_pipe2, SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_fallocate,
    SYS_fadvise64, SYS_flock, SYS_memfd_create,
    // Messages on a socket that is open already: that to the broker.
    SYS_sendmsg, SYS_recvmsg,
    // Files are looked at, and folders listed, wherever they are: Landlock does not guard that.
    SYS_fstat, SYS_newfstatat, SYS_statx, SYS_faccessat, kFaccessat2, SYS_readlinkat, SYS_getdents64, SYS_getcwd,
    SYS_statfs, SYS_fstatfs, SYS_umask,
#if defined(__x86_64__)
    SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_dup2, SYS_pipe, SYS_poll, SYS_select, SYS_time, SYS_getpgrp,
    SYS_arch_prctl,
#endif
    // Memory.
    SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise,
    // Threads.
    SYS_futex, SYS_set_robust_list, SYS_get_robust_list, kRseq, SYS_set_tid_address, SYS_sched_yield,
    SYS_sched_getaffinity, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid,
    // Signals that the process gets.
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigtimedwait, SYS_rt_sigpending, SYS_sigaltstack,
    SYS_restart_syscall, SYS_ppoll, SYS_pselect6, SYS_setitimer,
    // Who and when it is.
    SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getpgid, SYS_uname,
    SYS_sysinfo, SYS_getrusage, SYS_times, SYS_getrandom, SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep,
    SYS_nanosleep, SYS_gettimeofday};

constexpr std::uint32_t kChangeFolders[] = {
#if defined(__x86_64__)
    SYS_unlink,   SYS_rename,   SYS_mkdir,     SYS_rmdir,   SYS_link,
#endif
    SYS_unlinkat, SYS_renameat, SYS_renameat2, SYS_mkdirat, SYS_linkat, SYS_fchmod, SYS_fchown};

constexpr std::uint32_t kConnect[] = {
#if defined(__x86_64__)
    SYS_epoll_wait,
#endif
    SYS_socket,      SYS_socketpair,  SYS_connect,     SYS_bind,      SYS_sendto,       SYS_recvfrom,
    SYS_sendmmsg,    SYS_recvmmsg,    SYS_shutdown,    SYS_eventfd2,  SYS_getsockopt,   SYS_setsockopt,
    SYS_getsockname, SYS_getpeername, SYS_epoll_pwait, SYS_epoll_ctl, SYS_epoll_create1};

/// Of ioctl(): is it a terminal, how wide, whose turn is it. Others type on a terminal in the name of its user.
constexpr std::uint32_t kTerminalRequests[] = {TCGETS, 0x802c542a /* TCGETS2 */, TIOCGWINSZ, TIOCGPGRP, FIONREAD};

/// Of fcntl(): not F_SETOWN and F_SETSIG, by which the kernel signals other processes.
constexpr std::uint32_t kFileCommands[] = {F_DUPFD,     F_DUPFD_CLOEXEC, F_GETFD,     F_SETFD,    F_GETFL,
                                           F_SETFL,     F_GETLK,         F_SETLK,     F_SETLKW,   F_OFD_GETLK,
                                           F_OFD_SETLK, F_OFD_SETLKW,    F_ADD_SEALS, F_GET_SEALS};

/// Of prctl(): names of threads and of memory.
constexpr std::uint32_t kProcessOptions[] = {PR_SET_NAME, PR_GET_NAME, 0x53564d41 /* PR_SET_VMA */};

constexpr std::uint32_t kForWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);

/// The program that the kernel runs at each call.
class CallProgram {
 public:
  explicit CallProgram(const CallRules& rules) {
    load(offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);  // calls of another machine have other numbers
    load(offsetof(seccomp_data, nr));
    allow(kAlways);
    if (rules.changes_folders) allow(kChangeFolders);
    if (rules.connects) allow(kConnect);
    allow_opening(rules.opens_for_writing);
    allow_one_of(SYS_ioctl, 1, kTerminalRequests);
    allow_one_of(SYS_fcntl, 1, kFileCommands);
    allow_one_of(SYS_prctl, 0, kProcessOptions);
    const std::uint32_t self[] = {static_cast<std::uint32_t>(::getpid())};
    allow_one_of(SYS_tgkill, 0, self);  // abort() ends the process by it
    allow_one_of(SYS_kill, 0, self);
    const std::uint32_t limited[] = {0, self[0]};
    allow_one_of(SYS_prlimit64, 0, limited);
    allow_threads();
    // The C library then goes on with the older call.
    for (const std::uint32_t newer : {kClone3, kOpenat2}) answer(newer, SECCOMP_RET_ERRNO | ENOSYS);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }

  bool install() {
    const sock_fprog program = {static_cast<unsigned short>(steps_.size()), steps_.data()};
    return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
  }

 private:
  void add(int code, std::uint32_t value, std::size_t if_true = 0, std::size_t if_false = 0) {
    steps_.push_back({static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(if_true),
                      static_cast<std::uint8_t>(if_false), value});
  }

  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }

  /// The low half of an argument, which is all that the kernel takes of an int.
  void load_argument(std::size_t argument) { load(offsetof(seccomp_data, args) + 8 * argument); }

  void answer(std::uint32_t call, std::uint32_t with) {
    add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
    add(BPF_RET | BPF_K, with);
  }

  void allow(std::span<const std::uint32_t> calls) {
    for (const std::uint32_t call : calls) answer(call, SECCOMP_RET_ALLOW);
  }

  /// Allows the call if the argument is one of these.
  void allow_one_of(std::uint32_t call, std::size_t argument, std::span<const std::uint32_t> values) {
    add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 2 + 2 * values.size());
    load_argument(argument);
    for (const std::uint32_t value : values) answer(value, SECCOMP_RET_ALLOW);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }

  /// Refuses what Landlock would refuse, too, but on kernels that have none, or an early one.
  void allow_opening(bool for_writing) {
    if (for_writing) {
      answer(SYS_openat, SECCOMP_RET_ALLOW);
    } else {
      allow_reading(SYS_openat, 2);
    }
#if defined(__x86_64__)
    if (for_writing) {
      answer(SYS_open, SECCOMP_RET_ALLOW);
    } else {
      allow_reading(SYS_open, 1);
    }
#endif
  }

  void allow_reading(std::uint32_t call, std::size_t flags) {
    add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
    load_argument(flags);
    add(BPF_JMP | BPF_JSET | BPF_K, kForWriting, 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }

  /// A thread of this process, in the namespaces that it is in.
  void allow_threads() {
    constexpr std::uint32_t kThread = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND;
    constexpr std::uint32_t kNamespaces =
        CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    add(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 5);
    load_argument(0);
    add(BPF_ALU | BPF_AND | BPF_K, kThread | kNamespaces);
    add(BPF_JMP | BPF_JEQ | BPF_K, kThread, 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }

  std::vector<sock_filter> steps_;
};

}  // namespace

bool can_filter_calls() {
  const std::uint32_t wanted = SECCOMP_RET_ERRNO;
  return kMachine != 0 && ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &wanted) == 0;
}

bool filter_calls(const CallRules& rules) {
  return CallProgram(rules).install();
}

}  // namespace doctor
