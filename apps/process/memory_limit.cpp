#include "process/memory_limit.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <string_view>

#include "process/current_work.h"
#include "process/exit_code.h"
#include "process/output.h"
#include "process/progress_line.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::size_t kThreadStack = std::size_t{1} << 20;

/// Text that needs no memory but its own. What does not fit is left out.
class FixedText {
 public:
  void add(std::string_view part) {
    part = part.substr(0, text_.size() - size_);
    part.copy(text_.data() + size_, part.size());
    size_ += part.size();
  }

  std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 8'192> text_;
  std::size_t size_ = 0;
};

struct Exhaustion {
  std::string limit;  ///< as the user wrote it; empty if there is none
  std::mutex mutex;   ///< of several threads without memory, one prints
};

Exhaustion& exhaustion() {
  static Exhaustion values;
  return values;
}

/// "reading host.xplane.pb, 412 of 1,027 MB read". Counts of up to 15 characters, as these are, fit into a string
/// without memory from the heap.
void add_place(FixedText& text) {
  const CurrentWork& work = current_work();
  const std::string_view stage = work.progress.stage.load();
  text.add(activity_of(stage));
  const std::size_t index = work.progress.file_index;
  if (!is_about_one_file(stage) || index >= work.file_names.size()) return;
  text.add(stage == "build tree" ? " of " : " ");
  text.add(work.file_names[index]);
  text.add(", ");
  const BytesDone bytes = in_one_unit(work.progress.bytes_before + work.progress.bytes_read, work.progress.bytes_total);
  text.add(format_count(bytes.done));
  if (bytes.total) {
    text.add(" of ");
    text.add(format_count(*bytes.total));
  }
  text.add(" ");
  text.add(bytes.unit);
  text.add(" read");
}

/// Allocates nothing: there may be nothing left.
void add_message(FixedText& text) {
  if (exhaustion().limit.empty()) {
    text.add("tfdata-doctor: out of memory; try a shorter trace, or fewer files at once\n");
    return;
  }
  text.add("tfdata-doctor: more memory is needed than --max-memory ");
  text.add(exhaustion().limit);
  text.add(" allows (");
  add_place(text);
  text.add("); allow more, try a shorter trace, or fewer files at once\n");
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

std::uint64_t page_size() {
  return static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGE_SIZE)));
}

}  // namespace

void end_without_memory() {
  const std::lock_guard lock(exhaustion().mutex);
  FixedText message;
  add_message(message);
  print_last_note(message.view());
  // Not exit(): other threads are still at work on what it would destroy.
  ::_exit(kExitFailure);
}

void end_when_memory_runs_out() {
  exhaustion();  // so that it is there when it is needed
  std::set_new_handler(end_without_memory);
}

Result<void> limit_memory(std::uint64_t bytes, const std::string& text) {
  const std::string option = "--max-memory " + text;
  rlimit limit{};
  // A lower limit that is in force already stays, and is not what the message should name.
  if (::getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= bytes) return {};
  exhaustion().limit = text;
  limit.rlim_cur = bytes;
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) return fail(std::string("cannot be set: ") + std::strerror(errno), option);
  if (!can_map(1)) end_without_memory();
  if (bytes < SIZE_MAX / 2 && can_map(static_cast<std::size_t>(bytes) + 1)) {
    return fail("this kernel does not limit memory (Linux does from 4.7 on)", option);
  }
  return {};
}

Result<void> limit_memory(const std::optional<MemoryLimit>& limit) {
  return limit ? limit_memory(limit->bytes, limit->text) : Result<void>();
}

std::uint64_t machine_memory() {
  const std::uint64_t physical = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES))) * page_size();
  return std::min({physical, limit_in("/sys/fs/cgroup/memory.max", physical),
                   limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", physical)});
}

std::uint64_t memory_in_use() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t ignored = 0;
  std::uint64_t data = 0;  // the sixth number
  for (int field = 1; field < 6; ++field) file >> ignored;
  return file >> data ? data * page_size() : 0;
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

}  // namespace doctor
