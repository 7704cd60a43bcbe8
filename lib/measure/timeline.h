#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "measure/critical_path.h"

namespace doctor {

// What the threads of a pipeline did in a few windows of the trace, and who held the consumer's calls there: enough to
// draw, and no more of it than a picture can show, however long the trace is.

inline constexpr std::size_t kMostTimelinePipelines = 4;  ///< of a host, and of a document
inline constexpr std::size_t kMostTypicalSteps = 4;
inline constexpr std::size_t kMostTimelineCalls = 12;  ///< the longest ones, and those of one window
inline constexpr std::size_t kMostStretches = 240;     ///< of a call
inline constexpr std::size_t kMostTimelineLanes = 64;  ///< of a window
inline constexpr std::size_t kMostLaneSpans = 240;

/// Of which windows the timelines are kept. Nobody needs them for a diagnosis.
struct TimelineRequest {
  std::optional<std::size_t> call;   ///< instead of the usual windows, the call of this number in each pipeline, from 1
  std::optional<std::int64_t> step;  ///< instead of them, the first step that the trace marks with this number
  std::size_t longest = kMostTimelineCalls;  ///< of the usual windows: at most so many slow calls
  /// Only the pipeline of this root (kNoIterator: bare GetNext ops). Without it those that feed another are left out.
  std::optional<IteratorId> root;
};

enum class WindowKind : std::uint8_t {
  typical_steps,  ///< steady steps in a row whose share of waiting is nearest to that of all
  median_call,    ///< the steady call of median latency, and as much before it as it lasts
  longest_call,   ///< one of the slow calls, or the longest call if none is slow
  call,           ///< one that was asked for, and as much before it as it lasts
  step,           ///< a step that was asked for
};

/// What an iterator held of a call in one way.
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
  /// In order of time, without gaps or overlaps; they sum to the latency exactly. Of a call with more than
  /// kMostStretches segments each piece of 1 / kMostStretches goes to whoever held most of it.
  std::vector<Segment> stretches;

  Picoseconds latency() const { return span.end - span.start; }
};

/// Whose work a thread does: of the iterator itself or of the function that it was given.
enum class LaneWork : std::uint8_t { self, function };

/// A part of a thread's time in which it works for one iterator, but for pauses that a picture does not show.
struct LaneSpan {
  Interval span;
  Picoseconds work = 0;  ///< of that: at work
};

/// When a thread was at work for one iterator, whether the consumer waited or not. An iterator that waits for other
/// threads is not at work.
struct TimelineLane {
  IteratorId iterator = kNoIterator;
  LaneWork work = LaneWork::self;
  LaneId lane{};                ///< index into HostMeasurement::threads
  Picoseconds time = 0;         ///< at work inside the window: the work of all spans
  std::vector<LaneSpan> spans;  ///< disjoint, in order of time, inside the window
};

/// A GetNext call that takes an element of another pipeline, on a thread that takes elements of this one, too.
struct OtherCall {
  Interval span;  ///< its part inside the window
  IteratorId root = kNoIterator;
};

struct TimelineWindow {
  WindowKind kind = WindowKind::typical_steps;
  std::int64_t number = 0;  ///< of the first call in its pipeline, from 1; of the step, as the trace has it
  Interval span;
  std::vector<WindowCall> calls;  ///< in order of time
  std::size_t calls_left_out = 0;
  std::vector<OtherCall> other_calls;  ///< in order of time
  /// By iterator, work and start. Empty of the `longest_call` windows but that of the longest.
  std::vector<TimelineLane> lanes;
  std::size_t lanes_left_out = 0;  ///< those in which the least was done
};

/// At most kMostStretches pieces of a call: its segments if they are so few.
std::vector<Segment> stretches_of(Interval call, const std::vector<Segment>& segments);

}  // namespace doctor
