#pragma once

#include "base/result.h"
#include "base/work.h"
#include "io/byte_source.h"
#include "trace/event_reader.h"
#include "trace/trace.h"
#include "trace/trace_needs.h"

namespace doctor {

/// Reads several files as one trace. The result does not depend on the order of the files or on how events are spread
/// over them; it equals that of one file with all events. Only Trace::files and the notes of the loss keep the given
/// order.
class TraceJoiner {
 public:
  virtual ~TraceJoiner() = default;

  /// Reads one file to its end. An Error means that nothing could be read from it; what other files gave stays.
  virtual Result<void> add(ByteSource& source, const WorkOptions& work) = 0;

  /// The trace of the files that could be read. The joiner is empty afterwards.
  virtual Trace finish() = 0;
};

/// A trace format: one file of this folder, one line in formats.cpp.
struct Format {
  std::string_view name;         ///< as in the JSON report, e.g. "xspace"
  std::string_view description;  ///< for messages and --help

  /// Tests whether the uncompressed bytes at the start of a file (up to kSniffLength of them) look like this format.
  bool (*sniff)(std::string_view head);

  /// Hands every event that the sink uses to it. Damage that leaves something readable is counted among the losses; an
  /// Error means that nothing could be read.
  Result<EventTotals> (*read_events)(ByteSource& source, EventSink& sink, WantedPlanes planes, const WorkOptions& work);

  /// Makes a joiner for files of this format that are given together as the steps of one host's run, each a part of the
  /// Trace. Null if every file is a host of its own, whose Trace a TraceSink makes.
  std::unique_ptr<TraceJoiner> (*join)() = nullptr;
};

/// The number of bytes at the start of a file that sniff() gets.
inline constexpr std::size_t kSniffLength = std::size_t{64} * 1024;

/// All formats, in the order in which they are tried.
std::span<const Format> formats();

/// The format of a source, by its content; the source is rewound. Errors: empty input, no known format.
Result<const Format*> format_of(ByteSource& source);

/// Reads a trace in whatever format it is, by its content. Errors: empty input, no known format, nothing readable.
Result<Trace> read_trace(ByteSource& source, const WorkOptions& work = {}, const TraceNeeds& needs = {});

/// The same for a format that format_of() found.
Result<Trace> read_trace(ByteSource& source, const Format& format, const WorkOptions& work,
                         const TraceNeeds& needs = {});

/// Several sources read as one trace.
struct JoinedTrace {
  Trace trace;                               ///< the trace of the sources that could be read
  std::vector<std::optional<Error>> faults;  ///< indexed as the sources: why one could not be read
};

/// Reads sources that hold one trace in parts, of a format that can be joined. A part that cannot be read, or is of
/// another format, does not stop the others.
JoinedTrace read_traces(std::span<ByteSource* const> parts, const WorkOptions& work = {});

// The functions of each format.
bool sniff_xspace(std::string_view head);
Result<EventTotals> read_xspace(ByteSource& source, EventSink& sink, WantedPlanes planes = WantedPlanes::all,
                                const WorkOptions& work = {});
bool sniff_tf1_timeline(std::string_view head);
Result<EventTotals> read_tf1_timeline(ByteSource& source, EventSink& sink, WantedPlanes planes = WantedPlanes::all,
                                      const WorkOptions& work = {});
std::unique_ptr<TraceJoiner> join_tf1_timelines();
bool sniff_chrome_json(std::string_view head);
Result<EventTotals> read_chrome_json(ByteSource& source, EventSink& sink, WantedPlanes planes = WantedPlanes::all,
                                     const WorkOptions& work = {});

}  // namespace doctor
