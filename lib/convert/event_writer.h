#pragma once

#include <functional>

#include "base/time.h"
#include "convert/output_buffer.h"
#include "trace/annotations.h"
#include "trace/event_reader.h"

namespace doctor {

/// A file whose events are written.
struct EventFile {
  std::string path;
  std::size_t index = 0;  ///< among the files that could be read
  EventHeader header;
  Picoseconds shift = 0;       ///< shift that puts the times of its events onto the clock of the output
  std::int64_t origin_ns = 0;  ///< the origin of the output's times, in nanoseconds on the clock of the first file
};

/// Writes events as a document of one format, piece by piece. It keeps nothing of a trace but the names of its threads.
/// After an error of the output it goes on silently; OutputBuffer::finish() reports the error.
class EventWriter {
 public:
  explicit EventWriter(OutputBuffer& output) : output_(output) {}
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  virtual ~EventWriter() = default;

  /// Begins a file, which outlives its events. Its lines and planes are new ones.
  virtual void begin_file(const EventFile& file) = 0;
  virtual void add(const TraceEvent& event) = 0;
  // As in PartedSink.
  virtual std::unique_ptr<EventSink> make_part() { return nullptr; }
  virtual void join(EventSink& /*part*/) {}
  /// Adds tracks that were not recorded, if the format can tell them from events. Called after all events. `shift` puts
  /// their times onto the clock of the output.
  virtual void annotate(const AnnotationGroup& /*group*/, Picoseconds /*shift*/) {}
  /// Called once after the last event, even if there was no file.
  virtual void end_document() = 0;

  bool has_failed() const { return output_.has_failed(); }

 protected:
  OutputBuffer& output() { return output_; }

 private:
  OutputBuffer& output_;
};

enum class ConvertFormat : std::uint8_t { chrome, ndjson, csv };

/// The formats' names on the command line, in the order of ConvertFormat.
inline constexpr std::string_view kConvertFormatNames[] = {"chrome", "ndjson", "csv"};

std::unique_ptr<EventWriter> make_event_writer(ConvertFormat format, OutputBuffer& output);

// The writer of each format file.
std::unique_ptr<EventWriter> chrome_writer(OutputBuffer& output);
std::unique_ptr<EventWriter> ndjson_writer(OutputBuffer& output);
std::unique_ptr<EventWriter> csv_writer(OutputBuffer& output);

/// Where annotations go in the document.
struct AnnotationPlace {
  std::uint64_t pid = 0;                ///< a process id of their own
  Picoseconds shift = 0;                ///< added to all times
  std::uint64_t* last_arrow = nullptr;  ///< ids of arrows continue from here, because they must be unique in a document
};

/// Calls `visit` with each event of a Chrome trace that draws the group, as text. The first events are the label by
/// which readers skip the process (kAnnotationLabel), and its sort order, which puts it on top.
void visit_annotation_rows(const AnnotationGroup& group, const AnnotationPlace& place,
                           const std::function<void(const std::string& row)>& visit);

}  // namespace doctor
