#pragma once

#include "base/ids.h"
#include "base/time.h"
#include "measure/waits/critical_path.h"

namespace doctor {

// What the threads of a pipeline did in a few windows of the trace, and which iterators held the consumer's calls
// there. It is enough to draw, and bounded by what a picture can show, however long the trace is.

inline constexpr std::size_t kMostTimelinePipelines = 4;  ///< of a host, and of a document
inline constexpr std::size_t kMostTypicalSteps = 4;       ///< drawn side by side
inline constexpr std::size_t kMostTimelineCalls = 12;     ///< the longest calls, and those of one window
inline constexpr std::size_t kMostStretches = 240;        ///< of a call
inline constexpr std::size_t kMostTimelineLanes = 64;     ///< of a window
inline constexpr std::size_t kMostLaneSpans = 240;        ///< of a lane

enum class WindowKind : std::uint8_t {
  typical_steps,  ///< consecutive steady steps whose share of waiting is nearest to that of all
  median_call,    ///< the steady call of median latency, and as much time before it as it lasts
  longest_call,   ///< one of the slow calls, or the longest call if none is slow
  call,           ///< a requested call, and as much time before it as it lasts
  step,           ///< a requested step
};

/// The time that an iterator held of a call in one way.
struct HeldTime {
  IteratorId iterator = kNoIterator;
  SegmentKind kind = SegmentKind::self;
  Picoseconds time = 0;
};

/// A GetNext call of the consumer.
struct WindowCall {
  std::size_t number = 0;  ///< within its pipeline in order of time, from 1
  Interval span;
  LaneId lane{};                  ///< the consumer's thread, index into HostMeasurement::threads
  std::vector<HeldTime> held_by;  ///< longest first; they sum to the latency exactly
  /// In order of time, without gaps or overlaps; they sum to the latency exactly. In a call with more than
  /// kMostStretches segments, each piece of 1 / kMostStretches belongs to the iterator that held most of it.
  std::vector<Segment> stretches;

  Picoseconds latency() const { return span.end - span.start; }
};

/// The kind of work that a thread does: of the iterator itself, or of the function that it was given.
enum class LaneWork : std::uint8_t { self, function };

/// A part of a thread's time in which it works for one iterator, apart from pauses too short for a picture.
struct LaneSpan {
  Interval span;
  Picoseconds work = 0;  ///< the part at work
};

/// The times at which a thread worked for one iterator, whether the consumer waited or not. An iterator that waits for
/// other threads is not at work.
struct TimelineLane {
  IteratorId iterator = kNoIterator;
  LaneWork work = LaneWork::self;
  LaneId lane{};                ///< index into HostMeasurement::threads
  Picoseconds time = 0;         ///< time at work inside the window: the work of all spans
  std::vector<LaneSpan> spans;  ///< disjoint, in order of time, inside the window
};

/// A GetNext call that takes an element of another pipeline, on a thread that takes elements of this one, too.
struct OtherCall {
  Interval span;  ///< its part inside the window
  IteratorId root = kNoIterator;
};

struct TimelineWindow {
  WindowKind kind = WindowKind::typical_steps;
  std::int64_t number = 0;  ///< of the first call in its pipeline, from 1; of a step, as in the trace
  Interval span;
  std::vector<WindowCall> calls;  ///< in order of time
  std::size_t calls_left_out = 0;
  std::vector<OtherCall> other_calls;  ///< in order of time
  /// Sorted by iterator, work and start. Empty for the `longest_call` windows except that of the longest.
  std::vector<TimelineLane> lanes;
  std::size_t lanes_left_out = 0;  ///< number of lanes left out, those with the least work
};

/// At most kMostStretches pieces of a call: its segments if they are so few.
std::vector<Segment> stretches_of(Interval call, const std::vector<Segment>& segments);

}  // namespace doctor
