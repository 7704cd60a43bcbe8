#include "process/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace doctor {

std::vector<int> open_descriptors() {
  std::vector<int> numbers;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) {
    // Nothing is mounted there. More than these nobody opens for a command.
    constexpr int kMost = 4096;
    for (int number = 0; number < kMost; ++number) numbers.push_back(number);
    return numbers;
  }
  while (const dirent* const entry = ::readdir(folder)) {
    if (entry->d_name[0] != '.') numbers.push_back(std::atoi(entry->d_name));
  }
  ::closedir(folder);
  return numbers;
}

void close_descriptors_but(const std::vector<int>& kept) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int number : open_descriptors()) {
    if (number != nothing && std::find(kept.begin(), kept.end(), number) == kept.end()) ::close(number);
  }
  // Nothing that is opened later may get the number of a standard stream.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1) ::dup2(nothing, stream);
  }
  if (nothing > STDERR_FILENO) ::close(nothing);
}

}  // namespace doctor
