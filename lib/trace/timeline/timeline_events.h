#pragma once

#include "base/result.h"
#include "base/time.h"
#include "base/work.h"
#include "io/byte_source.h"
#include "trace/chrome/chrome_events.h"
#include "trace/repeated_events.h"
#include "trace/trace.h"

namespace doctor {

/// A span of a TF1 timeline: a call of an iterator, or a GetNext op (no long name).
struct TimelineSpan {
  Picoseconds start = 0;
  Picoseconds duration = 0;
  std::string_view long_name;

  Picoseconds end() const { return start + duration; }
};

/// The index that means "no span".
inline constexpr std::uint32_t kNoSpan = 0xffff'ffffu;

/// The nesting of calls, by index into the arguments of nest_timeline().
struct TimelineNesting {
  std::vector<std::uint32_t> order;     ///< all calls, outer before inner, else by start
  std::vector<std::uint32_t> parent;    ///< per call: the iterator call around it, or kNoSpan
  std::vector<std::uint32_t> get_next;  ///< per call: the GetNext op around it, or kNoSpan
};

/// Nests the spans of a timeline, whose lanes are rows of the drawing and not threads. The parent of an iterator call
/// is the call that contains it in time and has the longest long name that is a proper prefix of its own. An element
/// index at the end of the prefix does not count: "FlatMap[3]::…" is made by "FlatMap". O(n log n).
TimelineNesting nest_timeline(std::span<const TimelineSpan> calls, std::span<const TimelineSpan> get_nexts);

/// The reason of Loss for which a span of a TF1 timeline cannot be used; null if it can. Steps of a job may be weeks
/// apart, so this allows more than time_fault().
const char* timeline_time_fault(Picoseconds start, Picoseconds duration);

/// A call of an iterator in a TF1 timeline.
struct TimelineCall {
  Interval span;
  StringId long_name{};
};

/// An op on the host in a TF1 timeline.
struct TimelineOp {
  Interval span;
  StringId name{};  ///< with its type: "linear/MatMul:MatMul"
};

/// The first op of a graph's partition in one session run. A run has a partition for each device that takes part in it.
struct PartitionStart {
  Picoseconds start = 0;
  std::string partition;  ///< the process of the device, e.g. "/device:CPU:0 Compute"

  friend bool operator==(const PartitionStart&, const PartitionStart&) = default;
};

/// What the TF1 timelines of one machine show. Every table is sorted by start, then the longest first, then by name,
/// and holds nothing twice: old profilers record the same span for several devices, and merged timelines repeat whole
/// steps. Times count from the first event that was read; events may be weeks apart.
struct TimelineEvents {
  StringTable strings;
  std::vector<TimelineCall> calls;
  std::vector<Interval> get_next_ops;    ///< drawn from the op's node: iterators are nested in these
  std::vector<Interval> other_get_next;  ///< other drawings of the same calls
  std::vector<TimelineOp> ops;           ///< of the host; those of accelerators are left out
  std::vector<PartitionStart> partition_starts;
  std::vector<Interval> spans;       ///< of every event that has a time, including those of accelerators
  std::vector<std::string> devices;  ///< sorted
  std::uint64_t event_count = 0;     ///< events with a time; an event in several files counts once
  std::int64_t origin_ns = 0;        ///< as in Trace
  Loss loss;
};

/// Gathers the events of TF1 timelines: of one file, or of several that are steps of one run. The result does not
/// depend on the order of the files or on how events are spread over them; an event in two files counts once. Numbers
/// of processes and threads are valid within a file only: a process is one device of that session run, and a thread is
/// a row of the drawing.
class TimelineReader {
 public:
  /// Reads one file. An Error means that nothing could be read from it; the events of the others stay.
  Result<void> read(ByteSource& source, const WorkOptions& work);

  TimelineEvents take_events();

  // The consumer's part of ChromeDecoder.
  void take(const ChromeEvent& event);
  void take_metadata(const JsonEvent& event);
  void lose(const char* reason, std::uint64_t count) { loss_.add(reason, count); }
  void leave_out(const char* /*reason*/) {}  // flows, tensors and counters have no duration

 private:
  struct Arguments {
    std::string_view name;
    std::string_view op;
  };

  Arguments decode(std::span<const JsonMember> members);
  void end_file(const ByteSource& source);

  TimelineEvents events_;
  RepeatedEvents repeats_;
  TimeOrigin origin_;
  std::string name_text_;
  std::string op_text_;
  std::vector<TimelineOp> host_nodes_;  ///< of all files

  // An op of the current file.
  struct PlacedOp {
    TimelineOp op;
    std::uint64_t process = 0;
  };
  Loss loss_;
  std::uint64_t time_count_ = 0;  ///< events with a time
  std::map<std::uint64_t, std::string> process_names_;
  std::vector<PlacedOp> ops_;
  std::vector<PlacedOp> nodes_;  ///< events of nodes, which have only their type as a name
  std::vector<std::pair<Picoseconds, std::uint64_t>> sources_;  ///< start and process of a partition's first op
};

/// The session runs that TF1 timelines show, which are the steps of such a job. A run begins with the first of its
/// partitions; the next one begins when a partition of this run begins again. A run ends with the last event that
/// starts in it, at the latest where the next run begins: the time after that was not traced. Numbered from 0; empty if
/// the timelines show no start of a partition.
std::vector<StepMarker> session_runs_of(const TimelineEvents& events);

/// Moves times and the origin so that the first event is at 0 and all times fit a PackedSpan. A job that lasts for days
/// writes a timeline now and then. If the whole would exceed a PackedSpan, every pause between timelines is cut to a
/// second; no measurement uses these pauses. Events that do not fit even so are dropped and counted.
void fit_times(TimelineEvents& events);

}  // namespace doctor
