#include "convert/convert.h"

#include <fmt/format.h>

#include "io/file_progress.h"
#include "trace/format.h"
#include "trace/recording_pairs.h"

namespace doctor {
namespace {

constexpr std::int64_t kFarthestOriginNs = std::int64_t{26} * 24 * 3600 * 1'000'000'000;

/// Where times of the output count from: widened header by header, before the first event is written.
class CommonClock {
 public:
  void add(const EventHeader& header) {
    if (!first_origin_ns_) {
      first_origin_ns_ = header.origin_ns;
      origin_ns_ = header.origin_ns;
    }
    if (has(header)) origin_ns_ = std::min({origin_ns_, header.origin_ns, header.first_ns});
  }
  /// Whether the times of a file are on this clock.
  bool has(const EventHeader& header) const {
    return first_origin_ns_ && are_related(header.origin_ns, *first_origin_ns_) &&
           are_related(header.first_ns, *first_origin_ns_);
  }
  bool is_set() const { return first_origin_ns_.has_value(); }
  std::int64_t origin_ns() const { return origin_ns_; }

 private:
  std::optional<std::int64_t> first_origin_ns_;
  std::int64_t origin_ns_ = 0;
};

/// Takes what is known before the first event.
class HeaderSink final : public EventSink {
 public:
  explicit HeaderSink(CommonClock& clock) : clock_(clock) {}
  void begin(const EventHeader& header) override { clock_.add(header); }
  void take(const TraceEvent& /*event*/) override {}
  bool is_done() const override { return true; }

 private:
  CommonClock& clock_;
};

/// Hands the events of one file to the writer.
class FileEvents final : public PartedSink {
 public:
  FileEvents(EventFile& file, CommonClock& clock, EventWriter& writer) : file_(file), clock_(clock), writer_(writer) {}

  void begin(const EventHeader& header) override {
    if (!clock_.is_set()) clock_.add(header);
    file_.header = header;
    file_.origin_ns = clock_.origin_ns();
    has_clock_ = clock_.has(header);
    // Without a common clock its first event starts at 0.
    const std::int64_t zero_ns = has_clock_ ? file_.origin_ns : std::min(header.origin_ns, header.first_ns);
    zero_ns_ = zero_ns;
    file_.shift = are_related(header.origin_ns, zero_ns) ? (header.origin_ns - zero_ns) * kPicosecondsPerNanosecond : 0;
    writer_.begin_file(file_);
  }
  void take(const TraceEvent& event) override { writer_.add(event); }
  std::unique_ptr<EventSink> make_part() override { return writer_.make_part(); }
  void join(EventSink& part) override { writer_.join(part); }
  bool is_done() const override { return writer_.has_failed(); }

  bool has_clock() const { return has_clock_; }
  /// Where times of the output count from, on the clock of the file.
  std::int64_t zero_ns() const { return zero_ns_; }

 private:
  EventFile& file_;
  CommonClock& clock_;
  EventWriter& writer_;
  bool has_clock_ = true;
  std::int64_t zero_ns_ = 0;
};

/// Opens files, each once: standard input does not come again. Two recordings of one process have one clock.
class Sources {
 public:
  Sources(std::span<const std::string> files, const WorkOptions& work)
      : files_(files), kept_(files.size()), pairs_(find_recording_pairs(files, work)) {}

  Result<std::unique_ptr<ByteSource>> take(std::size_t index) {
    if (kept_[index] != nullptr) return std::move(kept_[index]);
    Result<std::unique_ptr<ByteSource>> source = open_source(files_[index]);
    for (const RecordingPair& pair : pairs_) {
      if (source && pair.other == index) return moved_source(std::move(*source), pair.shift_ns);
    }
    return source;
  }
  /// It will be read from its start again.
  void give_back(std::size_t index, std::unique_ptr<ByteSource> source) {
    if (files_[index] != "-" || !source->rewind()) return;  // of others there may be more than can be open
    kept_[index] = std::move(source);
  }

 private:
  std::span<const std::string> files_;
  std::vector<std::unique_ptr<ByteSource>> kept_;
  std::vector<RecordingPair> pairs_;
};

/// Looks at the header of every file. What cannot be read is reported when it is converted.
void set_clock(std::span<const std::string> files, Sources& sources, CommonClock& clock, const WorkOptions& work) {
  for (std::size_t index = 0; index < files.size(); ++index) {
    Result<std::unique_ptr<ByteSource>> source = sources.take(index);
    if (!source) continue;
    const Result<const Format*> format = format_of(**source);
    HeaderSink header(clock);
    const WorkOptions quiet{.threads = work.threads, .progress = nullptr, .window_size = work.window_size};
    if (format) static_cast<void>((*format)->read_events(**source, header, WantedPlanes::all, quiet));
    sources.give_back(index, std::move(*source));
  }
}

Result<ConvertedFile> convert_file(ByteSource& source, std::size_t index, CommonClock& clock, EventWriter& writer,
                                   const WorkOptions& work) {
  const Result<const Format*> format = format_of(source);
  if (!format) return Unexpected(format.error());
  EventFile file{source.name(), index, {}, 0, 0};
  FileEvents events(file, clock, writer);
  Result<EventTotals> totals = (*format)->read_events(source, events, WantedPlanes::all, work);
  if (!totals) return Unexpected(std::move(totals.error()));
  ConvertedFile converted{{file.path, std::string((*format)->name), source.stored_size()},
                          totals->event_count,
                          std::move(totals->loss),
                          events.zero_ns()};
  if (!events.has_clock()) {
    converted.loss.add("clock_unrelated");
    converted.loss.notes.push_back(
        fmt::format("{}: its clock is too far from that of the first file; both begin at 0", file.path));
  }
  return converted;
}

}  // namespace

bool are_related(std::int64_t a_ns, std::int64_t b_ns) {
  std::int64_t distance = 0;
  return !__builtin_sub_overflow(a_ns, b_ns, &distance) && distance > -kFarthestOriginNs &&
         distance < kFarthestOriginNs;
}

Conversion convert(std::span<const std::string> files, EventWriter& writer, const WorkOptions& work) {
  Conversion conversion;
  CommonClock clock;
  Sources sources(files, work);
  if (files.size() > 1) set_clock(files, sources, clock, work);
  FileProgress progress(work.progress, files);
  if (work.progress != nullptr) work.progress->stage = "read";
  for (std::size_t index = 0; index < files.size() && !writer.has_failed(); ++index) {
    progress.begin_file(index);
    const Result<std::unique_ptr<ByteSource>> source = sources.take(index);
    Result<ConvertedFile> converted =
        source ? convert_file(**source, conversion.files.size(), clock, writer, work) : Unexpected(source.error());
    if (converted) {
      conversion.files.push_back(std::move(*converted));
    } else {
      conversion.unreadable.push_back(std::move(converted.error()));
    }
    progress.end_file(files[index]);
  }
  return conversion;
}

std::unique_ptr<EventWriter> make_event_writer(ConvertFormat format, OutputBuffer& output) {
  switch (format) {
    case ConvertFormat::chrome:
      return chrome_writer(output);
    case ConvertFormat::ndjson:
      return ndjson_writer(output);
    case ConvertFormat::csv:
      return csv_writer(output);
  }
  return chrome_writer(output);
}

}  // namespace doctor
