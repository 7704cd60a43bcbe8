#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/work.h"

namespace doctor {

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

}  // namespace doctor
