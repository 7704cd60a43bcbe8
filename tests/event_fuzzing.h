#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "collected_events.h"
#include "convert/event_writer.h"
#include "io/byte_source.h"
#include "trace/chrome/json_events.h"
#include "trace/format.h"

namespace doctor {

/// Writes what it is given in every format, and counts.
class WritingSink final : public EventSink {
 public:
  void begin(const EventHeader& header) override {
    file_.path = "fuzz";
    file_.header = header;
    for (EventWriter* const writer : {chrome_.get(), ndjson_.get(), csv_.get()}) writer->begin_file(file_);
  }
  void take(const TraceEvent& event) override {
    ++count;
    for (EventWriter* const writer : {chrome_.get(), ndjson_.get(), csv_.get()}) writer->add(event);
  }
  void finish() {
    for (EventWriter* const writer : {chrome_.get(), ndjson_.get(), csv_.get()}) writer->end_document();
    for (OutputBuffer* const buffer : {&chrome_buffer_, &ndjson_buffer_, &csv_buffer_}) {
      if (!buffer->finish()) __builtin_trap();
    }
  }

  std::uint64_t count = 0;
  MemorySink chrome;
  MemorySink ndjson;
  MemorySink csv;

 private:
  EventFile file_;
  OutputBuffer chrome_buffer_{chrome};
  OutputBuffer ndjson_buffer_{ndjson};
  OutputBuffer csv_buffer_{csv};
  std::unique_ptr<EventWriter> chrome_ = chrome_writer(chrome_buffer_);
  std::unique_ptr<EventWriter> ndjson_ = ndjson_writer(ndjson_buffer_);
  std::unique_ptr<EventWriter> csv_ = csv_writer(csv_buffer_);
};

/// Reads any bytes with an event reader, converts what it finds, and traps where an event is neither found nor counted
/// as lost, or is not there when what was written is read.
inline void fuzz_events(decltype(Format::read_events) read, std::string_view bytes) {
  const auto source = memory_source(bytes, "fuzz");
  WritingSink sink;
  const Result<EventTotals> totals = read(*source, sink, WantedPlanes::all, {.window_size = 512});
  if (!totals) return;
  std::uint64_t accounted = sink.count;
  for (const auto& [reason, lost] : totals->loss.counts) {
    // "events_malformed", "flow_events"; others are of a document, a message, a line.
    if (reason.starts_with("events_") || reason.ends_with("_events")) accounted += lost;
  }
  if (accounted != totals->event_count) __builtin_trap();
  sink.finish();
  const auto lines = [](const std::string& text) {
    return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  };
  if (lines(sink.ndjson.bytes) != sink.count || lines(sink.csv.bytes) != sink.count + 1) __builtin_trap();
  const auto written = memory_source(sink.chrome.bytes, "written");
  JsonEventReader reader(*written);
  std::uint64_t found = 0;
  while (const JsonEventBatch* const batch = reader.next()) {
    for (const JsonEvent& event : batch->events) found += event.phase == 'X' ? 1 : 0;
  }
  if (found != sink.count || reader.document().malformed_events != 0) __builtin_trap();
}

}  // namespace doctor
