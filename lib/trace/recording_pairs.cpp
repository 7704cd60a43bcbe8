#include "trace/recording_pairs.h"

#include <cstdlib>
#include <system_error>

#include "base/ranks.h"
#include "base/time.h"
#include "io/byte_source.h"
#include "trace/event_kind.h"
#include "trace/event_reader.h"
#include "trace/format.h"
#include "trace/xspace/xspace_walk.h"
#include "trace/xspace/xspace_wire.h"

namespace doctor {
namespace {

/// A run of more files is one of several hosts: then names of files say which are of one.
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
  bool shows_xla = false;  ///< the runtime below JAX, where a program was compiled beforehand

  void host_name(std::string_view name) override { hosts.emplace_back(name); }
  void begin_plane() override {}
  void plane_name(std::string_view) override {}
  void event_metadata(const MetadataEntry& entry) override {
    const std::string_view name = entry.name;
    shows_tf_data = shows_tf_data || name.starts_with("Iterator::");
    shows_jax = shows_jax || framework_of_event(name) == "JAX";
    shows_xla = shows_xla || name.find("PjRt") != std::string_view::npos;
  }
  void stat_metadata(const MetadataEntry&) override {}
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

/// What one clock must be moved by.
struct ClockShift {
  Picoseconds time = 0;   ///< counted from the origins of the files
  std::int64_t ns = 0;    ///< on the clocks of the files
  Picoseconds doubt = 0;  ///< half of what both have is farther apart than this
};

std::optional<ClockShift> shift_by_markers(const CommonEvents& input, const CommonEvents& other) {
  constexpr std::size_t kFewest = 2;
  std::vector<Picoseconds> shifts;
  for (const auto& [step, start] : input.markers) {
    const auto same = other.markers.find(step);
    if (same != other.markers.end()) shifts.push_back(start - same->second);
  }
  if (shifts.size() < kFewest) return std::nullopt;
  const Picoseconds usual = median(shifts);
  for (Picoseconds& shift : shifts) shift = std::abs(shift - usual);
  const Picoseconds doubt = median(shifts);
  return doubt <= kFarthestMarker ? std::optional(ClockShift{usual, 0, doubt}) : std::nullopt;
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
  std::optional<CommonEvents> common = {};  ///< read where a file is compared with another one
  bool is_readable = true;                  ///< these

  bool shows_input() const { return names.shows_tf_data && !names.shows_jax; }
  bool shows_rest() const { return (names.shows_jax || names.shows_xla) && !names.shows_tf_data; }
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

/// Read once, whatever it is compared with. False where that fails.
bool read_common_events(std::span<const std::string> files, const WorkOptions& work, Candidate& candidate) {
  if (candidate.common) return candidate.is_readable;
  const std::unique_ptr<ByteSource> source = open_xspace(files[candidate.file]);
  CommonEvents& events = candidate.common.emplace();
  candidate.is_readable = source != nullptr && read_xspace(*source, events, WantedPlanes::all, work).has_value();
  return candidate.is_readable;
}

std::optional<ClockShift> shift_between(const CommonEvents& of_input, const CommonEvents& of_other) {
  std::optional<ClockShift> shift = shift_by_markers(of_input, of_other);
  if (!shift) {
    if (const std::optional<Picoseconds> time = shift_by_frames(of_input, of_other))
      shift = {*time, 0, kFarthestMarker};
  }
  if (shift) shift->ns = of_input.origin_ns - of_other.origin_ns + shift->time / kPicosecondsPerNanosecond;
  return shift;
}

bool may_be_one_host(const FileNames& a, const FileNames& b) {
  return a.hosts.empty() || b.hosts.empty() || a.hosts == b.hosts;
}

struct PossiblePair {
  RecordingPair pair;
  Picoseconds doubt = 0;
};

/// Null unless it is an XSpace.
std::unique_ptr<Candidate> read_candidate(std::span<const std::string> files, std::size_t file,
                                          const WorkOptions& work) {
  const std::unique_ptr<ByteSource> source = open_xspace(files[file]);
  if (source == nullptr) return nullptr;
  auto candidate = std::make_unique<Candidate>();
  candidate->file = file;
  Loss loss;  // counted when the file is read
  walk_planes(*source, work, candidate->names, loss);
  return candidate;
}

/// Pairs among files that may be of one host.
void add_pairs(std::span<const std::string> files, std::span<const std::size_t> of_host, const WorkOptions& work,
               std::vector<RecordingPair>& pairs) {
  std::vector<std::unique_ptr<Candidate>> candidates;
  for (const std::size_t file : of_host) {
    if (std::unique_ptr<Candidate> candidate = read_candidate(files, file, work)) {
      candidates.push_back(std::move(candidate));
    }
  }
  std::vector<PossiblePair> possible;
  for (const auto& input : candidates) {
    for (const auto& other : candidates) {
      if (!input->shows_input() || !other->shows_rest() || !may_be_one_host(input->names, other->names)) continue;
      if (!read_common_events(files, work, *input) || !read_common_events(files, work, *other)) continue;
      const std::optional<ClockShift> shift = shift_between(*input->common, *other->common);
      if (!shift) continue;
      possible.push_back({{input->file, other->file, shift->ns}, shift->doubt});
    }
  }
  // Runs of one program have like steps: those belong together whose markers agree best.
  std::stable_sort(possible.begin(), possible.end(),
                   [](const PossiblePair& a, const PossiblePair& b) { return a.doubt < b.doubt; });
  std::vector<bool> is_taken(files.size(), false);
  for (const PossiblePair& one : possible) {
    if (is_taken[one.pair.input] || is_taken[one.pair.other]) continue;
    pairs.push_back(one.pair);
    is_taken[one.pair.input] = is_taken[one.pair.other] = true;
  }
}

/// The name of a file without what says who recorded it, and in which format.
std::string host_in_name(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  const std::optional<NamedTrace> trace = as_trace_file(name);
  return std::string(without_recorder(trace ? trace->host : name));
}

}  // namespace

std::vector<RecordingPair> find_recording_pairs(std::span<const std::string> files, const WorkOptions& work) {
  std::map<std::string, std::vector<std::size_t>> by_host;
  for (std::size_t file = 0; file < files.size(); ++file) {
    by_host[files.size() > kMostFiles ? host_in_name(files[file]) : ""].push_back(file);
  }
  WorkOptions quiet = work;
  quiet.progress = nullptr;
  std::vector<RecordingPair> pairs;
  for (const auto& [host, of_host] : by_host) {
    if (of_host.size() > 1 && of_host.size() <= kMostFiles) add_pairs(files, of_host, quiet, pairs);
  }
  return pairs;
}

std::vector<std::string> PairsBeside::find(const std::string& file, const WorkOptions& work) {
  std::vector<std::string> beside = traces_beside(file, kMostFiles, large_);
  if (beside != beside_) {
    beside_ = std::move(beside);
    pairs_ = find_recording_pairs(beside_, work);
  }
  for (const RecordingPair& pair : pairs_) {
    if (beside_[pair.input] == file || beside_[pair.other] == file) return {beside_[pair.input], beside_[pair.other]};
  }
  return {file};
}

}  // namespace doctor
