#include "process/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include "io/file_descriptor.h"
#include "text/numbers.h"

namespace doctor {
namespace {

// <linux/landlock.h> of the machine that builds may be older than the kernel that the program meets.
// https://docs.kernel.org/userspace-api/landlock.html

constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr unsigned kAskForVersion = 1;
constexpr int kRuleOfPath = 1;

constexpr std::uint64_t kExecute = 1U << 0;
constexpr std::uint64_t kWriteFile = 1U << 1;
constexpr std::uint64_t kReadFile = 1U << 2;
constexpr std::uint64_t kRemoveFolder = 1U << 4;
constexpr std::uint64_t kRemoveFile = 1U << 5;
constexpr std::uint64_t kMakeFolder = 1U << 7;
constexpr std::uint64_t kMakeFile = 1U << 8;
constexpr std::uint64_t kMakeOthers = 1U << 6 | 1U << 9 | 1U << 10 | 1U << 11 | 1U << 12;  // devices, sockets, links
constexpr std::uint64_t kMoveToFolder = 1U << 13;                                          // from version 2 on
constexpr std::uint64_t kTruncate = 1U << 14;                                              // from version 3 on

constexpr std::uint64_t kTcp = 1U << 0 | 1U << 1;      // to bind and to connect, from version 4 on
constexpr std::uint64_t kOutside = 1U << 0 | 1U << 1;  // abstract sockets and signals, from version 6 on

struct RulesetAttributes {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scopes = 0;
};

struct __attribute__((packed)) PathRule {
  std::uint64_t allowed = 0;
  std::int32_t parent = -1;
};

/// 0 where the kernel has none, or has it switched off.
int landlock_version() {
  const long version = ::syscall(kCreateRuleset, nullptr, std::size_t{0}, kAskForVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

std::uint64_t guarded_by(int version) {
  std::uint64_t guarded =
      kExecute | kWriteFile | kReadFile | kRemoveFolder | kRemoveFile | kMakeFolder | kMakeFile | kMakeOthers;
  if (version >= 2) guarded |= kMoveToFolder;
  if (version >= 3) guarded |= kTruncate;
  return guarded;
}

/// What the kernel is to guard for a process under these rules; what it does not know must not be asked for.
FileDescriptor make_ruleset(int version, const SandboxRules& rules) {
  RulesetAttributes attributes;
  std::size_t size = sizeof(attributes.files);
  attributes.files = guarded_by(version);
  if (version >= 4) {
    size += sizeof(attributes.network);
    attributes.network = rules.may_connect ? 0 : kTcp;
  }
  if (version >= 6) {
    size += sizeof(attributes.scopes);
    attributes.scopes = rules.may_connect ? 0 : kOutside;
  }
  return FileDescriptor(static_cast<int>(::syscall(kCreateRuleset, &attributes, size, 0U)));
}

class Landlock {
 public:
  Landlock(int version, const SandboxRules& rules)
      : guarded_(guarded_by(version)), rules_(make_ruleset(version, rules)) {}

  bool is_open() const { return rules_.is_open(); }

  /// What leads somewhere else is allowed there.
  void allow(const std::string& path, std::uint64_t access) {
    const FileDescriptor parent(::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat status {};
    if (!parent.is_open() || ::fstat(parent.number(), &status) != 0) return;
    if (!S_ISDIR(status.st_mode)) access &= kWriteFile | kReadFile | kTruncate;
    const PathRule rule = {access & guarded_, parent.number()};
    static_cast<void>(::syscall(kAddRule, rules_.number(), kRuleOfPath, &rule, 0U));
  }

  /// False, with errno set, where it cannot be.
  bool restrict_process() { return ::syscall(kRestrictSelf, rules_.number(), 0U) == 0; }

 private:
  std::uint64_t guarded_;
  FileDescriptor rules_;
};

bool guard_files(int version, const SandboxRules& rules) {
  constexpr std::uint64_t kChange = kReadFile | kWriteFile | kTruncate | kMakeFile | kRemoveFile;
  Landlock landlock(version, rules);
  if (!landlock.is_open()) return false;
  // What --timings, the limits on memory and SQLite's random numbers are read from.
  for (const char* const path : {"/proc/self/status", "/proc/self/statm", "/dev/urandom"}) {
    landlock.allow(path, kReadFile);
  }
  if (rules.reads_everything) landlock.allow("/", kReadFile);
  for (const std::string& path : rules.readable) landlock.allow(path, kReadFile);
  for (const std::string& path : rules.writable) landlock.allow(path, kWriteFile | kTruncate);
  for (const std::string& path : rules.writable_folders) landlock.allow(path, kChange);
  for (const std::string& path : rules.growing_folders) landlock.allow(path, kChange | kMakeFolder | kRemoveFolder);
  return landlock.restrict_process();
}

#if defined(__x86_64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kMachine = 0;  // calls have other numbers there
#endif

#if defined(DOCTOR_NO_SANDBOX)
constexpr bool kIsBuiltFor = false;  // what looks into the program from within needs what is taken away
#else
constexpr bool kIsBuiltFor = true;
#endif

/// Numbers that newer kernels have, the same on all machines.
constexpr std::uint32_t kIoUringSetup = 425;  // does what the other calls do, past the filter
constexpr std::uint32_t kIoUringEnter = 426;
constexpr std::uint32_t kIoUringRegister = 427;
constexpr std::uint32_t kPidfdGetfd = 438;
constexpr std::uint32_t kFchmodat2 = 452;

constexpr std::uint32_t kRefused[] = {
    SYS_execve, SYS_execveat,
#if defined(__x86_64__)
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
    // The attributes of files, which Landlock does not guard. What is open already keeps its own calls.
    SYS_fchmodat, kFchmodat2, SYS_fchownat, SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_removexattr,
    SYS_lremovexattr,
    // Into other processes.
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, kPidfdGetfd,
    // Doors that have let programs out of sandboxes.
    kIoUringSetup, kIoUringEnter, kIoUringRegister, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl,
    SYS_add_key, SYS_request_key, SYS_open_by_handle_at, SYS_unshare, SYS_setns,
    // What administrators do.
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_init_module, SYS_finit_module, SYS_delete_module,
    SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_settimeofday, SYS_clock_settime, SYS_sethostname};

constexpr std::uint32_t kRefusedSockets[] = {SYS_socket, SYS_socketpair, SYS_connect, SYS_bind,
                                             SYS_listen, SYS_accept,     SYS_accept4};

/// What types on a terminal in the name of its user.
constexpr std::uint32_t kRefusedRequests[] = {TIOCSTI, TIOCLINUX};

/// The program that the kernel runs at each call. Refused is with EPERM, not by ending the process: a library that only
/// tries something, or one that a user loads into the program, does no harm.
class CallFilter {
 public:
  explicit CallFilter(bool may_connect) {
    load(offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);  // calls of another machine have other numbers
    load(offsetof(seccomp_data, nr));
    if (kMachine == AUDIT_ARCH_X86_64) refuse_if(BPF_JGE, 0x40000000);  // x32, which has other numbers too
    for (const std::uint32_t call : kRefused) refuse_if(BPF_JEQ, call);
    if (!may_connect) {
      for (const std::uint32_t call : kRefusedSockets) refuse_if(BPF_JEQ, call);
    }
    constexpr std::uint8_t kRest = 1 + 2 * std::size(kRefusedRequests);
    add(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, kRest);
    load(offsetof(seccomp_data, args[1]));  // its low half, of which the kernel makes the request
    for (const std::uint32_t request : kRefusedRequests) refuse_if(BPF_JEQ, request);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }

  bool install() {
    const sock_fprog program = {static_cast<unsigned short>(steps_.size()), steps_.data()};
    return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
  }

 private:
  void add(int code, std::uint32_t value, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
    steps_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, value});
  }

  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }

  void refuse_if(int comparison, std::uint32_t value) {
    add(BPF_JMP | comparison | BPF_K, value, 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }

  std::vector<sock_filter> steps_;
};

bool has_seccomp() {
  const std::uint32_t wanted = SECCOMP_RET_ERRNO;
  return kMachine != 0 && ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &wanted) == 0;
}

/// Landlock is of the thread that asks for it and of those that it starts.
bool has_other_threads() {
  std::ifstream status("/proc/self/status");
  constexpr std::string_view kKey = "Threads:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kKey)) return std::strtol(line.c_str() + kKey.size(), nullptr, 10) > 1;
  }
  return false;
}

void add_reason(Sandbox& sandbox, const std::string& reason) {
  sandbox.why_not += (sandbox.why_not.empty() ? "" : "; ") + reason;
}

std::string number_of_paths(std::size_t count) {
  return count == 0 ? "none" : std::to_string(count);
}

}  // namespace

Sandbox available_sandbox() {
  Sandbox sandbox;
  if (!kIsBuiltFor) {
    sandbox.why_not = "this build has a sanitizer or counts coverage";
    return sandbox;
  }
  sandbox.landlock = landlock_version();
  sandbox.has_filter = has_seccomp();
  if (sandbox.landlock == 0) {
    add_reason(sandbox, "files are not guarded: this kernel has no Landlock (Linux 5.13), or it is switched off");
  }
  if (!sandbox.has_filter) add_reason(sandbox, "calls are not filtered: no seccomp here");
  return sandbox;
}

Sandbox enter_sandbox(const SandboxRules& rules) {
  Sandbox sandbox = available_sandbox();
  if (sandbox.landlock == 0 && !sandbox.has_filter) return sandbox;
  // Both parts ask for it; programs that could give rights are not executed in any case.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return {0, false, std::string("no_new_privs: ") + std::strerror(errno)};
  }
  if (sandbox.landlock > 0 && !guard_files(sandbox.landlock, rules)) {
    sandbox.landlock = 0;
    add_reason(sandbox, std::string("files are not guarded: ") + std::strerror(errno));
  }
  if (sandbox.landlock > 0 && has_other_threads()) add_reason(sandbox, "threads that ran before are not guarded");
  if (sandbox.has_filter && !CallFilter(rules.may_connect).install()) {
    sandbox.has_filter = false;
    add_reason(sandbox, std::string("calls are not filtered: ") + std::strerror(errno));
  }
  return sandbox;
}

std::string describe(const Sandbox& sandbox, const SandboxRules& rules) {
  std::string text;
  if (sandbox.landlock > 0) {
    text = fmt::format(
        "Landlock {}: {} can be read, {} written", sandbox.landlock,
        rules.reads_everything ? "all files" : format_count(rules.readable.size(), "named path"),
        number_of_paths(rules.writable.size() + rules.writable_folders.size() + rules.growing_folders.size()));
  }
  if (sandbox.has_filter) {
    text += fmt::format("{}seccomp: no programs, {}", text.empty() ? "" : "; ",
                        rules.may_connect ? "sockets allowed" : "no sockets");
  }
  if (!sandbox.why_not.empty()) text += (text.empty() ? "" : "; ") + sandbox.why_not;
  return text;
}

}  // namespace doctor
