#include "trace/recording_pairs.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "base/ranks.h"
#include "base/time.h"
#include "io/byte_source.h"
#include "trace/event_kind.h"
#include "trace/event_reader.h"
#include "trace/format.h"
#include "trace/xspace_walk.h"
#include "trace/xspace_wire.h"

namespace doctor {
namespace {

/// A run of more files is one of several hosts.
constexpr std::size_t kMostFiles = 8;
/// Of the first markers, calls and frames so many are kept: enough to set two clocks against each other.
constexpr std::size_t kMostSeen = 4096;
/// Markers of one step are begun one right after the other. Chosen.
constexpr Picoseconds kFarthestMarker = 5 * kPicosecondsPerMillisecond;

/// What a file's metadata tell of it.
class FileNames final : public PlaneVisitor {
 public:
  std::vector<std::string> hosts;
  bool shows_tf_data = false;
  bool shows_jax = false;

  void host_name(std::string_view name) override { hosts.emplace_back(name); }
  void begin_plane() override {}
  void plane_name(std::string_view) override {}
  void event_metadata(std::string_view entry) override {
    const std::string_view name = read_metadata_name(read_map_entry(entry).second);
    shows_tf_data = shows_tf_data || name.starts_with("Iterator::");
    shows_jax = shows_jax || framework_of_event(name) == "JAX";
  }
  void stat_metadata(std::string_view) override {}
};

/// The events by which clocks are compared, counted from the origin of the file.
class CommonEvents final : public EventSink {
 public:
  std::map<std::pair<std::string, std::int64_t>, Picoseconds> markers;  ///< starts, by name and number
  std::vector<Interval> calls;                                          ///< GetNext
  std::vector<Interval> frames;                                         ///< next()
  std::int64_t origin_ns = 0;

  void begin(const EventHeader& header) override { origin_ns = header.origin_ns; }
  void take(const TraceEvent& event) override {
    if (event.line->plane->kind != PlaneKind::host || event.line->kind != LineKind::activity) return;
    const Interval span = {event.start, event.start + event.duration};
    const EventKind kind = classify_event(event.name);
    if (kind == EventKind::get_next) add_outermost(span, calls);
    if (kind == EventKind::next_frame) add_outermost(span, frames);
    if (kind != EventKind::other || markers.size() >= kMostSeen) return;
    const std::optional<std::int64_t> number = event.find_integer("step_num");
    if (number) markers.emplace(std::pair(std::string(event.name), *number), event.start);
  }

 private:
  static void add_outermost(Interval span, std::vector<Interval>& spans) {
    const bool is_inside = !spans.empty() && span.start >= spans.back().start && span.end <= spans.back().end;
    if (!is_inside && spans.size() < kMostSeen) spans.push_back(span);
  }
};

std::optional<Picoseconds> shift_by_markers(const CommonEvents& input, const CommonEvents& other) {
  constexpr std::size_t kFewest = 2;
  std::vector<Picoseconds> shifts;
  for (const auto& [step, start] : input.markers) {
    const auto same = other.markers.find(step);
    if (same != other.markers.end()) shifts.push_back(start - same->second);
  }
  if (shifts.size() < kFewest) return std::nullopt;
  const Picoseconds usual = median(shifts);
  const auto near = std::count_if(shifts.begin(), shifts.end(),
                                  [&](Picoseconds shift) { return std::abs(shift - usual) <= kFarthestMarker; });
  return 2 * static_cast<std::size_t>(near) > shifts.size() ? std::optional(usual) : std::nullopt;
}

/// The shift by which each call lies in the frame of the same number; nothing if there is none.
std::optional<Picoseconds> shift_into_frames(std::span<const Interval> calls, std::span<const Interval> frames) {
  constexpr std::size_t kFewest = 4;
  const std::size_t count = std::min(calls.size(), frames.size());
  if (count < kFewest) return std::nullopt;
  Picoseconds least = INT64_MIN;
  Picoseconds most = INT64_MAX;
  for (std::size_t index = 0; index < count; ++index) {
    least = std::max(least, calls[index].end - frames[index].end);
    most = std::min(most, calls[index].start - frames[index].start);
  }
  // A frame begins with the call and ends some time after it: the latest shift is the nearest to the truth.
  return least <= most ? std::optional(most) : std::nullopt;
}

/// Either file may have a few elements more at its begin. Of several ways in which the calls fit into the frames, that
/// with the most of them counts.
std::optional<Picoseconds> shift_by_frames(const CommonEvents& input, const CommonEvents& other) {
  constexpr std::size_t kMostMissing = 4;
  for (std::size_t missing = 0; missing <= kMostMissing; ++missing) {
    for (const bool is_of_calls : {false, true}) {
      std::span<const Interval> calls = input.calls;
      std::span<const Interval> frames = other.frames;
      std::span<const Interval>& longer = is_of_calls ? calls : frames;
      longer = longer.subspan(std::min(missing, longer.size()));
      if (std::optional<Picoseconds> shift = shift_into_frames(calls, frames)) return shift;
    }
  }
  return std::nullopt;
}

struct Candidate {
  std::size_t file = 0;
  FileNames names;
};

std::unique_ptr<ByteSource> open_xspace(const std::string& file) {
  std::error_code error;  // what is not a file can be read once only
  if (!std::filesystem::is_regular_file(file, error)) return nullptr;
  Result<std::unique_ptr<ByteSource>> source = open_source(file);
  if (!source) return nullptr;
  const Result<const Format*> format = format_of(**source);
  if (!format || (*format)->name != std::string_view("xspace")) return nullptr;
  if (!(*source)->rewind()) return nullptr;
  return std::move(*source);
}

bool read_common_events(const std::string& file, const WorkOptions& work, CommonEvents& events) {
  const std::unique_ptr<ByteSource> source = open_xspace(file);
  return source != nullptr && read_xspace_events(*source, events, WantedPlanes::all, work).has_value();
}

std::optional<std::int64_t> shift_between(const std::string& input, const std::string& other, const WorkOptions& work) {
  CommonEvents of_input;
  CommonEvents of_other;
  if (!read_common_events(input, work, of_input) || !read_common_events(other, work, of_other)) return std::nullopt;
  std::optional<Picoseconds> shift = shift_by_markers(of_input, of_other);
  if (!shift) shift = shift_by_frames(of_input, of_other);
  if (!shift) return std::nullopt;
  return of_input.origin_ns - of_other.origin_ns + *shift / kPicosecondsPerNanosecond;
}

bool may_be_one_host(const FileNames& a, const FileNames& b) {
  return a.hosts.empty() || b.hosts.empty() || a.hosts == b.hosts;
}

}  // namespace

std::vector<RecordingPair> find_recording_pairs(std::span<const std::string> files, const WorkOptions& work) {
  std::vector<RecordingPair> pairs;
  if (files.size() < 2 || files.size() > kMostFiles) return pairs;
  WorkOptions quiet = work;
  quiet.progress = nullptr;
  std::vector<std::unique_ptr<Candidate>> candidates;
  for (std::size_t file = 0; file < files.size(); ++file) {
    const std::unique_ptr<ByteSource> source = open_xspace(files[file]);
    if (source == nullptr) continue;
    auto candidate = std::make_unique<Candidate>();
    candidate->file = file;
    Loss loss;  // counted when the file is read
    walk_planes(*source, quiet, candidate->names, loss);
    candidates.push_back(std::move(candidate));
  }
  std::vector<bool> is_taken(files.size(), false);
  for (const auto& input : candidates) {
    for (const auto& other : candidates) {
      const bool may_match = input != other && !is_taken[other->file] && !is_taken[input->file];
      if (!may_match || !input->names.shows_tf_data || input->names.shows_jax) continue;
      if (other->names.shows_tf_data || !other->names.shows_jax) continue;
      if (!may_be_one_host(input->names, other->names)) continue;
      const std::optional<std::int64_t> shift = shift_between(files[input->file], files[other->file], quiet);
      if (!shift) continue;
      pairs.push_back({input->file, other->file, *shift});
      is_taken[input->file] = is_taken[other->file] = true;
    }
  }
  return pairs;
}

}  // namespace doctor
