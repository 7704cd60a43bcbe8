#include "process/process_limits.h"

#include <fmt/format.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>
#include <ratio>

#include "process/progress.h"

namespace doctor {
namespace {

/// The rest is for the page cache, through which all traces go, and for whoever else is there: a trace that somebody
/// made to fill the memory must not make the kernel end other programs.
using ShareOfMachine = std::ratio<3, 4>;

constexpr std::size_t kThreadStack = std::size_t{1} << 20;

struct Exhaustion {
  std::string limit;  ///< in words; empty if there is none
  std::mutex mutex;   ///< of several threads without memory, one prints
};

Exhaustion& exhaustion() {
  static Exhaustion values;
  return values;
}

/// Allocates nothing: there may be nothing left.
void add_message(FixedText& text) {
  if (exhaustion().limit.empty()) {
    text.add("tfdata-doctor: out of memory; try a shorter trace, or fewer files at once\n");
    return;
  }
  text.add("tfdata-doctor: more memory is needed than ");
  text.add(exhaustion().limit);
  text.add(" (");
  add_place(text);
  text.add("); allow more with --max-memory, try a shorter trace, or fewer files at once\n");
}

bool can_map(std::size_t length) {
  void* const mapped =
      ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return false;
  ::munmap(mapped, length);
  return true;
}

/// A file without a number, "max" for one, limits nothing.
std::uint64_t limit_in(const char* path, std::uint64_t otherwise) {
  std::ifstream file(path);
  std::uint64_t bytes = 0;
  return file >> bytes && bytes > 0 ? bytes : otherwise;
}

/// The lowest limit of the control groups (version 2) around this process: its own, and those that hold it.
std::uint64_t limit_of_groups(std::uint64_t otherwise) {
  const std::filesystem::path root = "/sys/fs/cgroup";
  std::uint64_t least = limit_in((root / "memory.max").c_str(), otherwise);
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    std::filesystem::path group = std::filesystem::path(line.substr(4)).lexically_normal();
    for (; group.has_relative_path() && group.has_filename(); group = group.parent_path()) {
      least = std::min(least, limit_in((root / group / "memory.max").c_str(), otherwise));
    }
  }
  return least;
}

std::uint64_t page_size() {
  return static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGE_SIZE)));
}

/// The bytes that this process and its children may use together: the machine's memory, or less if a control group
/// (version 2 or 1) allows less.
std::uint64_t machine_memory() {
  const std::uint64_t physical = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES))) * page_size();
  return std::min(
      {physical, limit_of_groups(physical), limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", physical)});
}

/// The bytes that this process can write to already, as a limit on memory counts them.
std::uint64_t memory_in_use() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t ignored = 0;
  std::uint64_t data = 0;  // the sixth number
  for (int field = 1; field < 6; ++field) file >> ignored;
  return file >> data ? data * page_size() : 0;
}

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

void end_without_memory() {
  const std::lock_guard lock(exhaustion().mutex);
  FixedText message;
  add_message(message);
  end_with(message);
}

void end_when_memory_runs_out() {
  exhaustion();  // so that it is there when it is needed
  std::set_new_handler(end_without_memory);
}

MemoryLimit memory_limit(std::uint64_t bytes, std::string_view text) {
  return {bytes, "--max-memory " + std::string(text) + " allows", true};
}

MemoryLimit usual_memory_limit() {
  const std::uint64_t bytes = machine_memory() / ShareOfMachine::den * ShareOfMachine::num;
  return {bytes, fmt::format("three quarters of this machine's, {} MiB", bytes >> 20), false};
}

Result<void> limit_memory(const MemoryLimit& most) {
  // A limit that nobody asked for must not keep a program from starting that is large by itself, as one built with a
  // sanitizer is.
  if (!most.is_given && memory_in_use() >= most.bytes) return {};
  const std::uint64_t bytes = most.bytes;
  rlimit limit{};
  // A lower limit that is in force already stays, and is not what the message should name.
  if (::getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= bytes) return {};
  exhaustion().limit = most.words;
  limit.rlim_cur = bytes;
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) {
    return most.is_given ? fail(std::string("cannot be set: ") + std::strerror(errno), "--max-memory") : Result<void>();
  }
  if (!can_map(1)) end_without_memory();
  if (!most.is_given) return {};
  if (bytes < SIZE_MAX / 2 && can_map(static_cast<std::size_t>(bytes) + 1)) {
    return fail("this kernel does not limit memory (Linux does from 4.7 on)", "--max-memory");
  }
  return {};
}

void use_small_thread_stacks() {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return;
  // Where it is refused, the stacks stay large: that costs nothing but room under a limit.
  if (::pthread_attr_setstacksize(&attributes, kThreadStack) == 0) {
    static_cast<void>(::pthread_setattr_default_np(&attributes));
  }
  ::pthread_attr_destroy(&attributes);
}

void return_large_blocks() {
  constexpr int kLargeBlock = 1 << 20;
  static_cast<void>(::mallopt(M_MMAP_THRESHOLD, kLargeBlock));
}

void keep_small_blocks() {
  constexpr int kMostKept = 32 << 20;
  static_cast<void>(::mallopt(M_TRIM_THRESHOLD, kMostKept));
}

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
