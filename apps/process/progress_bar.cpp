#include "process/progress_bar.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <system_error>

#include "process/progress_line.h"

namespace doctor {

bool wants_progress_bar(bool is_quiet, int descriptor) {
  const char* const terminal = std::getenv("TERM");
  return !is_quiet && ::isatty(descriptor) != 0 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

ProgressBar::ProgressBar(const Progress& progress, std::size_t file_count, StatusLine& line, Timing timing)
    : line_(line), timing_(timing), watch_(progress, file_count) {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    // No thread can be had: the work goes on without a bar.
  }
}

ProgressBar::~ProgressBar() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ended_.notify_one();
  if (thread_.joinable()) thread_.join();
  line_.erase();
}

void ProgressBar::run() {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  do {
    // It is looked at from the start, so that speed and passes are known once it appears.
    const auto now = std::chrono::steady_clock::now() - begin;
    const ProgressView view = watch_.look(now);
    if (now >= timing_.delay) line_.show(progress_line(view, line_.width()));
    if (!has_ended_) ended_.wait_for(lock, timing_.interval);
  } while (!has_ended_);
}

}  // namespace doctor
