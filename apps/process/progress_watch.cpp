#include "process/progress_watch.h"

namespace doctor {
namespace {

using Seconds = std::chrono::duration<double>;

// A speed measured over less time means little.
constexpr Seconds kShortestMeasure{0.5};

// A longer estimate would mean nothing, and nobody waits that long.
constexpr Seconds kLongestTimeLeft{24 * 3600.0};

}  // namespace

void ProgressWatch::follow_stage(std::chrono::nanoseconds now) {
  const std::string_view stage = progress_.stage.load();
  const std::size_t file_index = progress_.file_index;
  if (stage != stage_ || file_index != file_index_) stage_began_ = now;
  if (file_index != file_index_) {
    file_began_ = events_began_ = now;
    pass_ = 1;
    position_ = events_position_ = 0;
  }
  stage_ = stage;
  file_index_ = file_index;
}

void ProgressWatch::follow_passes(std::chrono::nanoseconds now) {
  const std::uint64_t position = progress_.bytes_read;
  // Threads that work side by side may report a little out of order; a new pass begins at the start.
  const bool is_new_pass = position < position_ / 2;
  if (is_new_pass) ++pass_;
  position_ = position;
  event_count_ = progress_.event_count;
  if (event_count_ == 0 || is_new_pass) {
    events_position_ = position;
    events_began_ = now;
  }
}

std::optional<std::chrono::seconds> ProgressWatch::time_left(std::chrono::nanoseconds now) const {
  const double before = static_cast<double>(progress_.bytes_before);
  // A pass that finds no events only prepares the one that does: its end is not the end of the file.
  const double position = event_count_ > 0 ? static_cast<double>(position_) : 0;
  const double rest = static_cast<double>(progress_.bytes_total) - before - position;
  // Whole files show what a file costs with all its passes and stages, so they count as soon as there are any.
  const double measured = before > 0 ? before : position - static_cast<double>(events_position_);
  const Seconds during = before > 0 ? file_began_ : now - events_began_;
  if (rest <= 0 || measured <= 0 || during < kShortestMeasure) return std::nullopt;
  const Seconds left = during * (rest / measured);
  if (left > kLongestTimeLeft) return std::nullopt;
  return std::chrono::ceil<std::chrono::seconds>(left);
}

ProgressView ProgressWatch::look(std::chrono::nanoseconds now) {
  follow_stage(now);
  follow_passes(now);
  ProgressView view;
  view.stage = stage_;
  view.file_index = file_index_;
  view.file_count = file_count_;
  view.pass = pass_;
  view.bytes_done = progress_.bytes_before + position_;
  view.bytes_total = progress_.bytes_total;
  view.event_count = progress_.events_before + event_count_;
  view.in_stage = std::chrono::duration_cast<std::chrono::seconds>(now - stage_began_);
  if (stage_ == "read") view.left = time_left(now);
  return view;
}

}  // namespace doctor
