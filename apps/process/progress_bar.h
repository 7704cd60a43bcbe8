#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

#include "base/work.h"
#include "process/progress_watch.h"
#include "process/status_line.h"

namespace doctor {

/// Tests whether progress is shown on standard error, assuming that it is `descriptor`.
bool wants_progress_bar(bool is_quiet, int descriptor);

/// Shows on the status line how far the work has come, from construction to destruction. Short work shows nothing.
class ProgressBar {
 public:
  /// The times at which it is drawn.
  struct Timing {
    std::chrono::milliseconds delay{1'000};   ///< before it appears
    std::chrono::milliseconds interval{100};  ///< from one drawing to the next
  };

  /// All arguments must outlive the bar.
  ProgressBar(const Progress& progress, std::size_t file_count, StatusLine& line, Timing timing);
  ProgressBar(const Progress& progress, std::size_t file_count, StatusLine& line)
      : ProgressBar(progress, file_count, line, Timing()) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Erases the line.
  ~ProgressBar();

 private:
  void run();

  StatusLine& line_;
  const Timing timing_;
  ProgressWatch watch_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace doctor
