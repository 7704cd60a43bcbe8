#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "base/work.h"
#include "trace/trace.h"

namespace doctor {

// Every event of a trace with all it carries, one after another, for pages and conversions that want more than a
// diagnosis (see Trace, which keeps what that needs). Nothing is kept: memory does not grow with the trace.

/// What a plane (a process of a Chrome trace) is.
enum class PlaneKind : std::uint8_t {
  host,    ///< threads of the machine's CPU
  device,  ///< an accelerator
  other,   ///< what the profiler says of itself and of the run, without events of the job
};

/// What the times of a line are.
enum class LineKind : std::uint8_t {
  activity,  ///< a thread's or a stream's own events
  derived,   ///< repeats the time of other lines: "TensorFlow Ops", "XLA Modules", …
  steps,     ///< the line "Steps": each event is a step
};

struct EventPlane {
  std::string name;  ///< "/host:CPU", "/device:GPU:0"; of a Chrome trace the name of the process
  PlaneKind kind = PlaneKind::other;
  std::uint64_t id = 0;   ///< as in the file: the id of an XPlane, the pid of a Chrome trace
  std::size_t index = 0;  ///< in order of appearance
  std::string host = {};  ///< the machine, where the name of a Chrome trace's process says it; else empty
  /// What a Chrome trace calls the process, with what `name` leaves out; empty for an XSpace.
  std::string title = {};
};

/// A thread of a host, a stream of a device.
struct EventLine {
  const EventPlane* plane = nullptr;  ///< never null
  std::string name;
  LineKind kind = LineKind::activity;
  std::uint64_t id = 0;   ///< as in the file: the id of an XLine, the tid of a Chrome trace
  std::size_t index = 0;  ///< over all planes, in order of appearance
};

enum class ArgumentType : std::uint8_t { text, integer, unsigned_integer, real };

/// Groups of arguments that a sink looks at together, as bits; see EventSink::groups_of().
using ArgumentGroups = std::uint16_t;
inline constexpr ArgumentGroups kAllArguments = 0xffff;

/// What a sink looks at of a host's events of one name.
struct EventUse {
  bool is_taken = true;                      ///< false: of those only that carry an argument of EventSink::kMarks
  ArgumentGroups arguments = kAllArguments;  ///< groups, of which at least one is looked at
};

/// An argument (statistic) of an event.
struct EventArgument {
  std::string_view name;
  ArgumentType type = ArgumentType::text;
  std::string_view text;     ///< of type text
  std::int64_t integer = 0;  ///< of type integer
  std::uint64_t unsigned_integer = 0;
  double real = 0;
  ArgumentGroups groups = kAllArguments;  ///< of its name, where the reader has asked for them
  /// Of one reading: texts with the same number are the same. 0: the reader does not say.
  std::uint32_t text_number = 0;

  /// The value as a 64-bit token or count: an integer of either sign, or a text that holds one. Chrome traces write
  /// numbers as texts.
  std::optional<std::int64_t> as_integer() const;
};

/// One event. Views live until the sink returns; lines and planes until the reading ends.
struct TraceEvent {
  const EventLine* line = nullptr;  ///< never null
  std::string_view name;            ///< the long one, "Iterator::Root::Prefetch::Map"
  std::string_view short_name;      ///< "Iterator::Map"; empty if the event has one name only
  Picoseconds start = 0;            ///< since the origin of the trace
  Picoseconds duration = 0;         ///< never negative
  bool is_repeat = false;           ///< the same run of an op that another event is; see TimelineRepeats
  /// Of one reading: events with the same number have the same name and short name. 0: the reader does not say.
  std::size_t name_number = 0;
  std::span<const EventArgument> arguments;

  /// The argument of this name; null if there is none.
  const EventArgument* find(std::string_view argument) const;
  /// The integer that the argument of this name holds; nothing if there is none.
  std::optional<std::int64_t> find_integer(std::string_view argument) const;
  /// The text that the argument of this name holds; empty if there is none.
  std::string_view find_text(std::string_view argument) const;
};

/// What is known of a trace before its first event.
struct EventHeader {
  std::vector<std::string> hosts;
  std::vector<std::string> devices;
  std::int64_t origin_ns = 0;  ///< where times count from, in nanoseconds on the clock of the file (mostly since 1970)
  std::int64_t first_ns = 0;   ///< on that clock, a time that no event starts before; in practice not after the origin
};

/// Takes the events of a trace. Within a line they come in the order of the file, which is by start in practice.
class EventSink {
 public:
  EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;
  virtual ~EventSink() = default;

  virtual void begin(const EventHeader& /*header*/) {}
  virtual void take(const TraceEvent& event) = 0;
  /// No more events of this line come. Readers that cannot know it before the end of the file do not say it.
  virtual void end_line(const EventLine& /*line*/) {}

  // Readers may leave out what of a host's events is not looked at, which is most of their work; events of other planes
  // come with all. The answers are the same from begin() on until the reading ends.

  /// The group of arguments for which an event is taken whatever its name.
  static constexpr ArgumentGroups kMarks = 1;
  /// The groups that arguments of this name are of; 0: they are not looked at.
  virtual ArgumentGroups groups_of(std::string_view /*argument*/) const { return kAllArguments; }
  /// What is looked at of the events of this name.
  virtual EventUse use_of(std::string_view /*name*/) const { return {}; }

  /// Whether no more events are wanted: the reading may end early, and its totals count what was read.
  virtual bool is_done() const { return false; }
};

enum class WantedPlanes : std::uint8_t { all, devices };

/// What was read. Each event went to the sink or is counted in `loss`.
struct EventTotals {
  std::uint64_t event_count = 0;
  Loss loss;

  /// Adds those of a further piece of the file, and says so to who watches the work.
  void add(const EventTotals& piece, const WorkOptions& work);
};

/// A time of the file's clock in picoseconds since an origin. Out of range (see time_fault()) for one that is days
/// away.
Picoseconds time_since_origin(std::int64_t timestamp_ns, std::int64_t origin_ns);

/// Whether a line of this name repeats others' time or holds steps, whatever plane it is in.
LineKind kind_of_line(std::string_view name);

/// The same of a line of this plane. Of a GPU, XLA's lines repeat what the streams show; other devices have no streams:
/// there ops of XLA are the device's own work.
LineKind kind_of_line(const EventPlane& plane, std::string_view name);

/// The name of an event without the arguments of a TraceMe that the runtime left in it: "Iterator::Map" of
/// "Iterator::Map#id=1,parent_id=2#" (tsl/profiler/utils/parse_annotation.cc).
std::string_view without_encoded_arguments(std::string_view name);

/// What a plane of an XSpace is, by its name.
PlaneKind kind_of_plane(std::string_view name);

/// Whether a plane of this name is a device, and no part of one: the sparse cores of a TPU have planes of their own
/// ("/device:TPU:0 SparseCore 1").
bool is_whole_device(std::string_view name);

}  // namespace doctor
