#pragma once

#include "base/time.h"
#include "base/work.h"
#include "trace/trace.h"

namespace doctor {

// Every event of a trace with everything it carries, one after another, for pages and conversions that want more than a
// diagnosis (see Trace, which holds what that needs). Nothing is kept: memory does not grow with the trace.

/// The kind of a plane (in a Chrome trace, of a process).
enum class PlaneKind : std::uint8_t {
  host,    ///< threads of the machine's CPU
  device,  ///< an accelerator
  other,   ///< the profiler's notes about itself and the run, without events of the job
};

/// The meaning of a line's times.
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
  std::string host = {};  ///< the machine, if the name of a Chrome trace's process says it; else empty
  /// The full name of a process in a Chrome trace, of which `name` leaves out a part; empty for an XSpace.
  std::string title = {};
};

/// A thread of a host, or a stream of a device.
struct EventLine {
  const EventPlane* plane = nullptr;  ///< never null
  std::string name;
  LineKind kind = LineKind::activity;
  std::uint64_t id = 0;   ///< as in the file: the id of an XLine, the tid of a Chrome trace
  std::size_t index = 0;  ///< over all planes, in order of appearance
  /// True if the id is the profiler's number of a thread, which no two processes share.
  bool has_thread_id = false;
};

enum class ArgumentType : std::uint8_t { text, integer, unsigned_integer, real };

/// Groups of arguments that a sink uses together, as bits; see EventSink::groups_of().
using ArgumentGroups = std::uint16_t;
inline constexpr ArgumentGroups kAllArguments = 0xffff;

/// The part of a host's events of one name that a sink uses.
struct EventUse {
  bool is_taken = true;                      ///< false: only events that carry an argument of EventSink::kMarks
  ArgumentGroups arguments = kAllArguments;  ///< the groups of which at least one is used
  std::uint64_t meaning = 0;                 ///< of the name for the sink, which gets it back: TraceEvent::meaning
};

/// An argument (statistic) of an event.
struct EventArgument {
  std::string_view name;
  ArgumentType type = ArgumentType::text;
  std::string_view text;     ///< set if the type is text
  std::int64_t integer = 0;  ///< set if the type is integer
  std::uint64_t unsigned_integer = 0;
  double real = 0;
  ArgumentGroups groups = kAllArguments;  ///< the groups of its name, if the reader asked for them
  /// Arguments of one reading with the same number have the same text. 0: the reader does not say.
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
  bool is_repeat = false;           ///< true if another event is the same run of an op; see TimelineRepeats
  /// Events of one reading with the same number have the same name and short name. 0: the reader does not say.
  std::size_t name_number = 0;
  std::uint64_t meaning = 0;        ///< EventUse::meaning of the name; 0 for events that are not a host's
  std::uint64_t short_meaning = 0;  ///< the same of the name that Chrome traces give beside it, else `meaning`
  std::span<const EventArgument> arguments;

  /// The argument of this name; null if there is none.
  const EventArgument* find(std::string_view argument) const;
  /// The integer in the argument of this name; nullopt if there is none.
  std::optional<std::int64_t> find_integer(std::string_view argument) const;
  /// The text in the argument of this name; empty if there is none.
  std::string_view find_text(std::string_view argument) const;
};

/// What is known about a trace before its first event.
struct EventHeader {
  std::vector<std::string> hosts;
  std::vector<std::string> devices;
  std::int64_t origin_ns = 0;  ///< the origin of times, in nanoseconds on the clock of the file (mostly since 1970)
  std::int64_t first_ns = 0;   ///< a time on that clock before which no event starts; in practice not after the origin
  std::int64_t recorded_ns = 0;  ///< when the recording began, in nanoseconds since 1970; 0 if the file does not say
  Picoseconds recording_length = 0;  ///< 0 if the file does not say
  bool lists_names = false;          ///< the file lists the names of its events: each should have one
};

/// Receives the events of a trace. Within a line they come in the order of the file, which is by start in practice.
class EventSink {
 public:
  EventSink() = default;
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;
  virtual ~EventSink() = default;

  virtual void begin(const EventHeader& /*header*/) {}
  virtual void take(const TraceEvent& event) = 0;
  /// Called when no more events of this line will come. Readers that cannot know it before the end of the file do not
  /// call it.
  virtual void end_line(const EventLine& /*line*/) {}
  /// Called after the last event, while the lines are still there. Only now a reader may know all of the header that
  /// learns names on the way.
  virtual void end(const EventHeader& /*header*/) {}

  /// Forgets all events: the reading begins again. Returns false where that cannot be done. A reader for which names
  /// may come after events asks before the first; if it can be done it learns names on the way, and calls begin() not
  /// at all.
  virtual bool begin_again() { return false; }

  // Readers may leave out the parts of events that are not used, which saves most of their work. The answers do not
  // change from begin() until the reading ends.

  /// False: no event of this line is used.
  virtual bool uses_line(const EventLine& /*line*/) const { return true; }
  /// The groups of the arguments with this name that events of devices carry; 0: they are not used.
  virtual ArgumentGroups device_groups_of(std::string_view /*argument*/) const { return kAllArguments; }

  // Of a host's events:

  /// The group of arguments that make a sink take an event whatever its name.
  static constexpr ArgumentGroups kMarks = 1;
  /// The groups of the arguments with this name; 0: they are not used.
  virtual ArgumentGroups groups_of(std::string_view /*argument*/) const { return kAllArguments; }
  /// The use of events with this name. May be asked more than once for a name.
  virtual EventUse use_of(std::string_view /*name*/) { return {}; }

  /// True if no more events are wanted: the reading may end early, and its totals count what was read.
  virtual bool is_done() const { return false; }
};

/// The planes whose events go to the sink.
enum class WantedPlanes : std::uint8_t {
  all,
  devices,
  /// For a Trace: events of other planes are only counted, names are not handed on, arguments in names are passed over,
  /// and what makes the file as a whole doubtful is among the losses. What a diagnosis never uses is not lost.
  hosts,
};

/// The result of a reading. Each event went to the sink or is counted in `loss`.
struct EventTotals {
  std::uint64_t event_count = 0;
  std::uint64_t timed_count = 0;  ///< of these, events with a time, of any plane
  Loss loss;

  /// Adds the totals of a further piece of the file, and reports the progress.
  void add(const EventTotals& piece, const WorkOptions& work);
};

/// A time on the file's clock in picoseconds since an origin. A time that is days away is out of range (see
/// time_fault()).
Picoseconds time_since_origin(std::int64_t timestamp_ns, std::int64_t origin_ns);

/// The kind of a line by its name: lines that repeat the time of others or hold steps, whatever their plane.
LineKind kind_of_line(std::string_view name);

/// The same for a line of this plane. On a GPU, XLA's lines repeat what the streams show. Other devices have no
/// streams: there the ops of XLA are the device's own work.
LineKind kind_of_line(const EventPlane& plane, std::string_view name);

/// The name of an event without the TraceMe arguments that the runtime left in it: "Iterator::Map" for
/// "Iterator::Map#id=1,parent_id=2#" (tsl/profiler/utils/parse_annotation.cc).
std::string_view without_encoded_arguments(std::string_view name);

/// The kind of a plane of an XSpace by its name.
PlaneKind kind_of_plane(std::string_view name);

/// Tests whether a plane of this name is a whole device: the sparse cores of a TPU have planes of their own
/// ("/device:TPU:0 SparseCore 1").
bool is_whole_device(std::string_view name);

/// A value that follows from the name of an event, computed once for each name of a file. It serves one reading,
/// because the next one numbers names anew. If there are more names than fit, it keeps the first.
template <typename Value>
class NameMemo {
 public:
  /// The value of the event's name. Calls `work_out()` if the name is new, or if the reader does not number names.
  /// Valid until the next event.
  template <typename WorkOut>
  const Value& of(const TraceEvent& event, const WorkOut& work_out) {
    if (event.name_number == 0 || event.name_number >= kMostNames) return *(passing_ = work_out());
    if (event.name_number >= known_.size()) known_.resize(event.name_number + 1);
    std::optional<Value>& known = known_[event.name_number];
    if (!known) known = work_out();
    return *known;
  }

  void clear() { known_.clear(); }

 private:
  static constexpr std::size_t kMostNames = std::size_t{1} << 16;

  std::vector<std::optional<Value>> known_;  ///< indexed by TraceEvent::name_number
  std::optional<Value> passing_;
};

/// A sink whose events may be taken on several threads. A reader that supports it (that of an XSpace) hands the events
/// of each piece of the file to a part, as the sink itself would have got them, and joins the parts in the order of the
/// file. The result is the same as if the sink had taken all events itself.
class PartedSink : public EventSink {
 public:
  /// Makes a sink for pieces of the file, which one thread at a time uses. Called after begin(), on any thread, also
  /// while another part is joined. If it returns null, it always does: there are no parts, and this sink takes all
  /// events itself.
  virtual std::unique_ptr<EventSink> make_part() = 0;
  /// Appends what `part` has taken since it was made or last joined.
  virtual void join(EventSink& part) = 0;
};

/// The sink as one with parts; null if it has none, or if one thread works alone. Call it after begin().
inline PartedSink* parts_of(EventSink& sink, const WorkOptions& work) {
  auto* const parted = work.threads > 1 ? dynamic_cast<PartedSink*>(&sink) : nullptr;
  return parted != nullptr && parted->make_part() != nullptr ? parted : nullptr;
}

}  // namespace doctor
