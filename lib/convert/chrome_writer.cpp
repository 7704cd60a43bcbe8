#include <set>

#include "convert/event_text.h"
#include "convert/event_writer.h"
#include "text/json_page.h"

// Chrome traces in the conventions of TensorFlow's own (tensorflow/core/profiler/convert/trace_events_to_json.cc),
// which Perfetto, chrome://tracing and our own reader open. "Trace Event Format", Google, document
// 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.

namespace doctor {
namespace {

/// "host /host:CPU", as XProf names the processes of several hosts.
std::string title_of(std::string_view host, std::string_view plane) {
  return host.empty() ? std::string(plane) : fmt::format("{} {}", host, plane);
}

constexpr std::string_view kProcessKey = R"({"ph":"X","pid":)";
constexpr std::string_view kThreadKey = R"(,"tid":)";
constexpr std::size_t kLongestTrack = kProcessKey.size() + kThreadKey.size() + 2 * kLongestInteger;
constexpr std::string_view kStartKey = R"(,"ts":)";
constexpr std::string_view kDurationKey = R"(,"dur":)";
constexpr std::string_view kNameKey = R"(,"name":)";
constexpr std::size_t kLongestTimes = kStartKey.size() + kDurationKey.size() + kNameKey.size() + 2 * kLongestTime;

/// The members of a row from its times to the key of its name.
char* put_times(char* to, const TraceEvent& event, const EventFile& file) {
  to = put_microseconds(put(to, kStartKey), event.start + file.shift);
  to = put_microseconds(put(to, kDurationKey), event.duration);
  return put(to, kNameKey);
}

/// The row from its name to its end.
void append_end_of_row(std::string& text, const TraceEvent& event) {
  append_json_string(text, event.short_name.empty() ? event.name : event.short_name);
  const std::string_view long_name = event.short_name.empty() ? std::string_view{} : event.name;
  if (!event.arguments.empty() || !long_name.empty()) {
    text += R"(,"args":)";
    append_arguments(text, long_name, event.arguments);
  }
  text += '}';
}

/// A slice on its way to a track.
struct Slice {
  Interval span;
  /// What is recorded beside the events of a thread, and not nested in them: a step's marker, which JAX begins before
  /// the Python function returns that begins it, and what CUPTI records of the driver and the streams.
  bool is_beside = false;
};

Slice slice_of(const TraceEvent& event) {
  const bool is_beside = std::any_of(event.arguments.begin(), event.arguments.end(), [](const EventArgument& argument) {
    return argument.name == "step_num" || argument.name == "correlation_id";
  });
  return {{event.start, event.start + event.duration}, is_beside};
}

/// Rows that a thread spells, without the numbers of their tracks, which depend on the rows before.
class ChromePart final : public EventSink {
 public:
  struct Row {
    const EventLine* line = nullptr;
    std::size_t end = 0;  ///< in the text
    Slice slice;
  };

  explicit ChromePart(const EventFile& file) : file_(file) {}

  void take(const TraceEvent& event) override {
    std::array<char, kLongestTimes> times;
    text.append(times.data(), put_times(times.data(), event, file_));
    append_end_of_row(text, event);
    rows.push_back({event.line, text.size(), slice_of(event)});
  }

  std::string text;
  std::vector<Row> rows;

 private:
  const EventFile& file_;
};

class ChromeWriter final : public EventWriter {
 public:
  using EventWriter::EventWriter;

  void begin_file(const EventFile& file) override;
  void add(const TraceEvent& event) override;
  std::unique_ptr<EventSink> make_part() override { return std::make_unique<ChromePart>(*file_); }
  void join(EventSink& part) override;
  void annotate(const AnnotationGroup& group, Picoseconds shift) override;
  void end_document() override;

 private:
  struct Process {
    std::uint64_t pid = 0;
    std::map<std::uint64_t, std::uint64_t> tids;  ///< by the line's id
    std::uint64_t next_large_tid = std::uint64_t{1} << 31;
  };
  struct Track {
    std::uint64_t pid = 0;
    std::uint64_t tid = 0;
    std::vector<Interval> open = {};  ///< slices that have not ended, each within the one before

    bool takes(Slice slice);
  };

  void begin_document(std::int64_t origin_ns);
  void reserve(const std::string& title);
  void name_process(std::uint64_t pid, std::string_view title);
  std::uint64_t begin_process(std::string_view title);
  Process& process_of(const EventPlane& plane);
  const Track& track_of(const EventLine& line, Slice slice);
  Track& begin_track(const EventLine& line, std::vector<Track>& tracks);
  void begin_thread(const Track& track, std::string_view name, const EventLine& line);
  char* put_track(char* to, const EventLine& line, Slice slice);
  void begin_row() { output().text += is_first_row_ ? "\n" : ",\n", is_first_row_ = false; }

  bool has_begun_ = false;
  bool is_first_row_ = true;
  std::uint64_t last_pid_ = 0;
  std::uint64_t last_arrow_ = 0;
  // Of the present file.
  const EventFile* file_ = nullptr;
  std::map<std::string, std::uint64_t> reserved_;  ///< pids by host and plane, until that plane comes
  std::map<std::size_t, Process> processes_;       ///< by the plane's index
  /// By the line's index. The first is the line; the others have what is beside and overlaps slices of those before in
  /// part.
  std::vector<std::vector<Track>> tracks_;
};

void ChromeWriter::begin_document(std::int64_t origin_ns) {
  has_begun_ = true;
  // Strings, as the format wants them in otherData.
  output().text += fmt::format(
      R"({{"displayTimeUnit":"ns","otherData":{{"tool":"tfdata-doctor {}","origin_ns":"{}"}},"traceEvents":[)",
      DOCTOR_VERSION, origin_ns);
}

/// Hosts and devices are processes in this format, so each gets one even if it has no events.
void ChromeWriter::begin_file(const EventFile& file) {
  if (!has_begun_) begin_document(file.origin_ns);
  file_ = &file;
  reserved_.clear();
  processes_.clear();
  tracks_.clear();
  const std::vector<std::string>& hosts = file.header.hosts;
  for (const std::string& host : hosts) reserve(title_of(host, "/host:CPU"));
  if (hosts.size() > 1) return;  // only its events say whose device it is
  for (const std::string& device : file.header.devices) reserve(title_of(hosts.empty() ? "" : hosts[0], device));
}

void ChromeWriter::reserve(const std::string& title) {
  const auto [place, is_new] = reserved_.try_emplace(title, 0);
  if (is_new) place->second = begin_process(title);
}

void ChromeWriter::name_process(std::uint64_t pid, std::string_view title) {
  begin_row();
  output().text += fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":)", pid);
  append_json_string(output().text, title);
  output().text += "}}";
}

std::uint64_t ChromeWriter::begin_process(std::string_view title) {
  const std::uint64_t pid = ++last_pid_;
  name_process(pid, title);
  begin_row();
  output().text +=
      fmt::format(R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})", pid);
  return pid;
}

ChromeWriter::Process& ChromeWriter::process_of(const EventPlane& plane) {
  Process& process = processes_[plane.index];
  if (process.pid != 0) return process;
  // Of an XSpace it is the first host's; a Chrome trace has titles of its own.
  const std::vector<std::string>& hosts = file_->header.hosts;
  const std::string host = !plane.host.empty() || hosts.empty() ? plane.host : hosts.front();
  const std::string name = title_of(host, plane.name);
  const std::string& title = plane.title.empty() ? name : plane.title;
  const auto reserved = reserved_.find(name);
  if (reserved == reserved_.end()) {
    process.pid = begin_process(title);
  } else {
    process.pid = reserved->second;
    reserved_.erase(reserved);
    if (title != name) name_process(process.pid, title);
  }
  return process;
}

/// Slices of one track contain one another or lie apart, or Perfetto drops them. Where the order of the file is not
/// that of time, all are taken.
bool ChromeWriter::Track::takes(Slice slice) {
  const Interval span = slice.span;
  while (!open.empty() && open.back().end <= span.start) open.pop_back();
  const bool overlaps = !open.empty() && open.back().start < span.start && open.back().end < span.end;
  if (overlaps && slice.is_beside) return false;
  open.push_back(span);
  return true;
}

const ChromeWriter::Track& ChromeWriter::track_of(const EventLine& line, Slice slice) {
  constexpr std::size_t kMostTracks = 8;  // the last takes what is left
  if (line.index >= tracks_.size()) tracks_.resize(line.index + 1);
  std::vector<Track>& tracks = tracks_[line.index];
  for (Track& track : tracks) {
    if (track.takes(slice)) return track;
  }
  if (tracks.size() == kMostTracks) return tracks.back();
  begin_track(line, tracks).takes(slice);
  return tracks.back();
}

/// Numbers that programs of 32 bits and of 53 bits hold alike: the line's id if it is one of them, and not 0, which is
/// the idle task's. Lines of one id are one thread.
ChromeWriter::Track& ChromeWriter::begin_track(const EventLine& line, std::vector<Track>& tracks) {
  Process& process = process_of(*line.plane);
  if (!tracks.empty()) {
    Track& track = tracks.emplace_back(Track{process.pid, process.next_large_tid++});
    begin_thread(track, fmt::format("{} ({})", line.name, tracks.size()), line);
    return track;
  }
  const auto [place, is_new] = process.tids.try_emplace(line.id, line.id);
  const bool is_small = line.id > 0 && line.id < std::uint64_t{1} << 31;
  if (is_new && !is_small) place->second = process.next_large_tid++;
  Track& track = tracks.emplace_back(Track{process.pid, place->second});
  begin_thread(track, line.name, line);
  return track;
}

void ChromeWriter::begin_thread(const Track& track, std::string_view name, const EventLine& line) {
  std::string& text = output().text;
  if (!name.empty()) {
    begin_row();
    text += fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":)", track.pid, track.tid);
    append_json_string(text, name);
    text += "}}";
  }
  begin_row();
  text += fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
                      track.pid, track.tid, line.index);
}

/// Begins a row with the members that say which track it is on, of which `to` has room for the longest.
char* ChromeWriter::put_track(char* to, const EventLine& line, Slice slice) {
  const Track& track = track_of(line, slice);
  begin_row();
  to = put_integer(put(to, kProcessKey), track.pid);
  return put_integer(put(to, kThreadKey), track.tid);
}

void ChromeWriter::add(const TraceEvent& event) {
  std::array<char, kLongestTrack + kLongestTimes> members;
  char* const to = put_times(put_track(members.data(), *event.line, slice_of(event)), event, *file_);
  std::string& text = output().text;
  text.append(members.data(), to);
  append_end_of_row(text, event);
  output().end_piece();
}

void ChromeWriter::join(EventSink& part) {
  auto& spelled = static_cast<ChromePart&>(part);
  std::size_t at = 0;
  for (const ChromePart::Row& row : spelled.rows) {
    std::array<char, kLongestTrack> members;
    char* const to = put_track(members.data(), *row.line, row.slice);
    output().text.append(members.data(), to).append(spelled.text, at, row.end - at);
    output().end_piece();
    at = row.end;
  }
  spelled.text.clear();
  spelled.rows.clear();
}

void ChromeWriter::annotate(const AnnotationGroup& group, Picoseconds shift) {
  visit_annotation_rows(group, {++last_pid_, shift, &last_arrow_}, [this](const std::string& row) {
    begin_row();
    output().text += row;
    output().end_piece();
  });
}

void ChromeWriter::end_document() {
  if (!has_begun_) begin_document(0);
  output().text += "\n]}\n";
}

}  // namespace

std::unique_ptr<EventWriter> chrome_writer(OutputBuffer& output) {
  return std::make_unique<ChromeWriter>(output);
}

}  // namespace doctor
