#include "process/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

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
    if (!parent.is_open() && (errno == EMFILE || errno == ENFILE)) error_ = errno;  // else nothing is there
    if (!parent.is_open() || ::fstat(parent.number(), &status) != 0) return;
    if (!S_ISDIR(status.st_mode)) access &= kWriteFile | kReadFile | kTruncate;
    const PathRule rule = {access & guarded_, parent.number()};
    static_cast<void>(::syscall(kAddRule, rules_.number(), kRuleOfPath, &rule, 0U));
  }

  /// False, with errno set, where it cannot be.
  bool restrict_process() {
    errno = error_;
    return error_ == 0 && ::syscall(kRestrictSelf, rules_.number(), 0U) == 0;
  }

 private:
  int error_ = 0;  ///< why something could not be allowed, which the process then could not read
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
  for (const std::string& path : rules.changeable) landlock.allow(path, kReadFile | kWriteFile | kTruncate);
  for (const std::string& path : rules.writable_folders) landlock.allow(path, kChange);
  for (const std::string& path : rules.growing_folders) landlock.allow(path, kChange | kMakeFolder | kRemoveFolder);
  return landlock.restrict_process();
}

#if defined(DOCTOR_NO_SANDBOX)
constexpr bool kIsBuiltFor = false;  // what looks into the program from within needs what is taken away
#else
constexpr bool kIsBuiltFor = true;
#endif

long thread_count() {
  std::ifstream status("/proc/self/status");
  constexpr std::string_view kKey = "Threads:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kKey)) return std::strtol(line.c_str() + kKey.size(), nullptr, 10);
  }
  return 1;
}

/// Landlock is of the thread that asks for it and of those that it starts. The kernel counts a thread for a moment
/// after it was joined.
bool has_other_threads() {
  constexpr std::chrono::milliseconds kLongestEnd{100};
  const auto begin = std::chrono::steady_clock::now();
  while (thread_count() > 1) {
    if (std::chrono::steady_clock::now() - begin > kLongestEnd) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

void add_reason(Sandbox& sandbox, const std::string& reason) {
  sandbox.why_not += (sandbox.why_not.empty() ? "" : "; ") + reason;
}

CallRules call_rules_of(const SandboxRules& rules) {
  const bool changes_folders = !rules.writable_folders.empty() || !rules.growing_folders.empty();
  return {.opens_for_writing = changes_folders || !rules.writable.empty() || !rules.changeable.empty(),
          .changes_folders = changes_folders,
          .connects = rules.may_connect};
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
  sandbox.has_filter = can_filter_calls();
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
  if (sandbox.has_filter && !filter_calls(call_rules_of(rules))) {
    sandbox.has_filter = false;
    add_reason(sandbox, std::string("calls are not filtered: ") + std::strerror(errno));
  }
  return sandbox;
}

std::string_view force_of(const Sandbox& sandbox) {
  if (sandbox.landlock == 0 && !sandbox.has_filter) return "none";
  return sandbox.why_not.empty() ? "full" : "partial";
}

std::string describe(const Sandbox& sandbox, const SandboxRules& rules) {
  std::string text;
  if (sandbox.landlock > 0) {
    text = fmt::format("Landlock {}: {} can be read, {} written", sandbox.landlock,
                       rules.reads_everything ? "all files" : format_count(rules.readable.size(), "named path"),
                       number_of_paths(rules.writable.size() + rules.changeable.size() + rules.writable_folders.size() +
                                       rules.growing_folders.size()));
  }
  if (sandbox.has_filter) {
    text += fmt::format("{}seccomp: no programs, {}", text.empty() ? "" : "; ",
                        rules.may_connect ? "sockets allowed" : "no sockets");
  }
  if (!sandbox.why_not.empty()) text += (text.empty() ? "" : "; ") + sandbox.why_not;
  return text;
}

}  // namespace doctor
