#pragma once

#include <array>
#include <condition_variable>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/work.h"
#include "process/output.h"

namespace doctor {

/// The files that the program is working on. There is one for the process, because memory can run out in any thread and
/// the message names the place.
struct CurrentWork {
  Progress progress;
  /// The traces in the order they are read, escaped for a terminal or a log. Set before threads start.
  std::vector<std::string> file_names;
};

CurrentWork& current_work();

/// Notes which traces will be read.
void name_current_files(const std::vector<std::string>& files);

/// Text in memory of its own, because there may be none left. Text that does not fit is dropped.
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

/// Adds the place of the work: "reading host.xplane.pb, 412 of 1,027 MB read".
void add_place(FixedText& text);

/// Prints the text and ends the program with kExitFailure, while other threads are at work. Files after -o do not have
/// their names yet.
[[noreturn]] void end_with(const FixedText& text);

/// The state of the work at one moment.
struct ProgressView {
  std::string_view stage;                    ///< as in the timings; empty before the first
  std::size_t file_index = 0;                ///< the file that is worked on
  std::size_t file_count = 1;                ///< all that were given
  unsigned pass = 1;                         ///< number of passes over the file, as far as they were seen
  std::uint64_t bytes_done = 0;              ///< of all files, as stored; goes back with a new pass
  std::uint64_t bytes_total = 0;             ///< of all files, as stored; 0 while unknown
  std::uint64_t event_count = 0;             ///< of all files
  std::chrono::seconds in_stage{};           ///< time since the stage of this file began
  std::optional<std::chrono::seconds> left;  ///< time until the last file is read; empty while that would be a guess
};

/// Follows a Progress from its start, because passes over a file and the speed show only over time. It has no clock of
/// its own.
class ProgressWatch {
 public:
  ProgressWatch(const Progress& progress, std::size_t file_count) : progress_(progress), file_count_(file_count) {}

  /// The state at `now`, which is the time since the work began and never goes back.
  ProgressView look(std::chrono::nanoseconds now);

 private:
  void follow_stage(std::chrono::nanoseconds now);
  void follow_passes(std::chrono::nanoseconds now);
  std::optional<std::chrono::seconds> time_left(std::chrono::nanoseconds now) const;

  const Progress& progress_;
  const std::size_t file_count_;

  std::string_view stage_;
  std::size_t file_index_ = 0;
  std::uint64_t position_ = 0;  ///< in the file, as stored
  unsigned pass_ = 1;
  std::uint64_t event_count_ = 0;  ///< of the file
  std::chrono::nanoseconds stage_began_{};
  std::chrono::nanoseconds file_began_{};
  // The place where the pass began to find events, as far as that was seen; its speed is measured from there. It is the
  // current place as long as the pass finds none.
  std::uint64_t events_position_ = 0;
  std::chrono::nanoseconds events_began_{};
};

/// The line that a terminal shows while work goes on, of at most `width` characters, all ASCII: `reading  412 of 1,027
/// MB [########------]  40 %  9.8 M events  3 s left`. If it is too long, the least important parts are left out.
std::string progress_line(const ProgressView& view, std::size_t width);

/// A duration as text: "3 s", "2 min 5 s", "1 h 10 min".
std::string time_text(std::chrono::seconds time);

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
