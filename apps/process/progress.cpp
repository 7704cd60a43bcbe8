#include "process/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "process/log_sink.h"
#include "process/output.h"
#include "text/columns.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::size_t kLongestBar = 30;
constexpr std::size_t kShortestBar = 5;
constexpr std::size_t kBarFrame = 3;  // " [" and "]"

struct Activity {
  std::string_view stage;
  std::string_view words;
  bool is_about_one_file;
};

constexpr std::array<Activity, 7> kActivities = {{
    {"", "starting", false},
    {"open", "opening", true},
    {"read", "reading", true},
    {"build tree", "building the tree", true},
    {"measure", "measuring", true},
    {"diagnose", "diagnosing", false},
    {"render and write", "writing the report", false},
}};

/// The stage's name must outlive it.
Activity activity_of(std::string_view stage) {
  const auto* const found = std::ranges::find(kActivities, stage, &Activity::stage);
  return found == kActivities.end() ? Activity{stage, stage, false} : *found;
}

struct ByteUnit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::array<ByteUnit, 4> kByteUnits = {{{"B", 1}, {"kB", 1'000}, {"MB", 1'000'000}, {"GB", 1'000'000'000}}};

/// The unit that leaves a number of four digits or, in the last, of however many it takes.
const ByteUnit& unit_for(std::uint64_t bytes) {
  const auto* const found =
      std::ranges::find_if(kByteUnits, [&](const ByteUnit& unit) { return bytes / unit.bytes < 10'000; });
  return found == kByteUnits.end() ? kByteUnits.back() : *found;
}

/// The bytes read and their total, in the unit that suits the total: 412 and 1,027 MB.
struct BytesDone {
  std::uint64_t done = 0;
  std::optional<std::uint64_t> total;  ///< empty if it is unknown, or wrong because a file grew
  std::string_view unit;
};

BytesDone in_one_unit(std::uint64_t bytes_done, std::uint64_t bytes_total) {
  const bool is_total_known = bytes_total > 0 && bytes_done <= bytes_total;
  const ByteUnit& unit = unit_for(is_total_known ? bytes_total : bytes_done);
  return {bytes_done / unit.bytes, is_total_known ? std::optional(bytes_total / unit.bytes) : std::nullopt, unit.name};
}

std::string event_text(std::uint64_t count) {
  if (count < 1'000'000) return format_count(count, "event");
  const double millions = static_cast<double>(count) / 1e6;
  return millions < 10'000 ? fmt::format("{:.1f} M events", millions) : fmt::format("{:.1f} G events", millions / 1e3);
}

/// "reading", with which file and pass where there are several.
std::string headline(const ProgressView& view) {
  const Activity activity = activity_of(view.stage);
  std::string text(activity.words);
  if (activity.is_about_one_file && view.file_count > 1) {
    text += fmt::format(" {} of {}", view.file_index + 1, view.file_count);
  }
  if (view.stage == "read" && view.pass > 1) text += fmt::format(", pass {}", view.pass);
  return text;
}

bool has_share(const ProgressView& view) {
  return view.bytes_total > 0 && view.bytes_done <= view.bytes_total;
}

double share_of(const ProgressView& view) {
  return static_cast<double>(view.bytes_done) / static_cast<double>(view.bytes_total);
}

/// " [####----]" of at most `width` characters; empty where that is too few to show anything.
std::string bar(double share, std::size_t width) {
  if (width < kBarFrame + kShortestBar) return {};
  const std::size_t cells = std::min(width - kBarFrame, kLongestBar);
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(cells));
  return " [" + std::string(filled, '#') + std::string(cells - filled, '-') + "]";
}

std::string bytes_text(const ProgressView& view) {
  const BytesDone bytes = in_one_unit(view.bytes_done, view.bytes_total);
  if (!bytes.total) return fmt::format("{} {}", format_count(bytes.done), bytes.unit);
  return fmt::format("{} of {} {}", format_count(bytes.done), format_count(*bytes.total), bytes.unit);
}

/// A piece of the line.
struct Part {
  int place;  ///< from left to right
  std::string text;
};

constexpr int kBarPlace = 2;

/// The parts of the line except the bar, the most important first.
std::vector<Part> parts_of(const ProgressView& view) {
  std::vector<Part> parts = {{0, headline(view)}};
  const bool is_reading = view.stage == "read";
  if (is_reading && has_share(view)) {
    parts.push_back({3, fmt::format("  {:2.0f}%", std::floor(share_of(view) * 100))});
  } else {
    parts.push_back({5, "  " + time_text(view.in_stage)});
  }
  if (!is_reading) return parts;
  if (view.left) parts.push_back({5, "  " + time_text(*view.left) + " left"});
  parts.push_back({1, "  " + bytes_text(view)});
  if (view.event_count > 0) parts.push_back({4, "  " + event_text(view.event_count)});
  return parts;
}

using Seconds = std::chrono::duration<double>;

// A speed measured over less time means little.
constexpr Seconds kShortestMeasure{0.5};

// A longer estimate would mean nothing, and nobody waits that long.
constexpr Seconds kLongestTimeLeft{24 * 3600.0};

constexpr std::size_t kLongestShown = 1'000;

}  // namespace

std::string time_text(std::chrono::seconds time) {
  const auto seconds = time.count();
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3'600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3'600, seconds / 60 % 60);
}

std::string progress_line(const ProgressView& view, std::size_t width) {
  std::vector<Part> shown;
  std::size_t room = width;
  for (Part& part : parts_of(view)) {
    if (part.text.size() > room) break;  // less important parts would not help without it
    room -= part.text.size();
    shown.push_back(std::move(part));
  }
  if (view.stage == "read" && has_share(view)) shown.push_back({kBarPlace, bar(share_of(view), room)});
  std::ranges::sort(shown, [](const Part& left, const Part& right) { return left.place < right.place; });
  std::string line;
  for (const Part& part : shown) line += part.text;
  return line;
}

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

CurrentWork& current_work() {
  static CurrentWork work;
  return work;
}

void name_current_files(const std::vector<std::string>& files) {
  std::vector<std::string>& names = current_work().file_names;
  names.clear();
  for (const std::string& file : files) names.push_back(clip(for_log(escape_for_terminal(file)), kLongestShown));
}

// Counts of up to 15 characters, as these are, fit into a string without memory from the heap.
void add_place(FixedText& text) {
  const CurrentWork& work = current_work();
  const std::string_view stage = work.progress.stage.load();
  const Activity activity = activity_of(stage);
  text.add(activity.words);
  const std::size_t index = work.progress.file_index;
  if (!activity.is_about_one_file || index >= work.file_names.size()) return;
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

void end_with(const FixedText& text) {
  print_last_note(text.view());
  // Not exit(): other threads are still at work on what it would destroy.
  ::_exit(kExitFailure);
}

}  // namespace doctor
