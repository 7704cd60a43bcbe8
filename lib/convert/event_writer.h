#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

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
  Picoseconds shift = 0;       ///< added to the times of its events puts them on the clock of the output
  std::int64_t origin_ns = 0;  ///< where times of the output count from, in nanoseconds on the clock of the first file
};

/// Writes events as a document of one format, piece by piece: holds nothing of a trace but the names of its threads.
/// After an error of the output it goes on silently; OutputBuffer::finish() reports the error.
class EventWriter {
 public:
  explicit EventWriter(OutputBuffer& output) : output_(output) {}
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  virtual ~EventWriter() = default;

  /// Events from here on are of this file, which outlives them. Lines and planes are new ones.
  virtual void begin_file(const EventFile& file) = 0;
  virtual void add(const TraceEvent& event) = 0;
  // As those of PartedSink.
  virtual std::unique_ptr<EventSink> make_part() { return nullptr; }
  virtual void join(EventSink& /*part*/) {}
  /// Adds tracks that were not recorded, where the format can tell them from events; after all events. `shift`, added
  /// to their times, puts them on the clock of the output.
  virtual void annotate(const AnnotationGroup& /*group*/, Picoseconds /*shift*/) {}
  /// The last event was written. Called once, even where there was no file.
  virtual void end_document() = 0;

  bool has_failed() const { return output_.has_failed(); }

 protected:
  OutputBuffer& output() { return output_; }

 private:
  OutputBuffer& output_;
};

enum class ConvertFormat : std::uint8_t { chrome, ndjson, csv };

/// What a format is called on the command line, in the order of ConvertFormat.
inline constexpr std::string_view kConvertFormatNames[] = {"chrome", "ndjson", "csv"};

std::unique_ptr<EventWriter> make_event_writer(ConvertFormat format, OutputBuffer& output);

// Those of each format file.
std::unique_ptr<EventWriter> chrome_writer(OutputBuffer& output);
std::unique_ptr<EventWriter> ndjson_writer(OutputBuffer& output);
std::unique_ptr<EventWriter> csv_writer(OutputBuffer& output);

}  // namespace doctor
