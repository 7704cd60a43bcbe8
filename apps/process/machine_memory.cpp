#include "process/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace doctor {
namespace {

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

}  // namespace doctor
