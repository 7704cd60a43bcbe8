#pragma once

#include <unordered_map>

#include "base/chunked_vector.h"
#include "base/ids.h"
#include "base/packed.h"
#include "base/time.h"
#include "base/work.h"
#include "trace/event_kind.h"
#include "trace/trace.h"

namespace doctor {

/// A Produce event of a thread, with the id of its element.
struct ProduceEvent {
  PackedToken element_id;
  std::uint32_t row = kNoRow;       ///< see ProducedElement
  std::uint32_t last_run = kNoRow;  ///< see ProducedElement
};

/// A Consume event of a thread.
struct ConsumeEvent {
  PackedToken element_id;
  std::uint32_t row = kNoRow;  ///< see ConsumedElement
};

/// The Produce and Consume events of one thread.
struct ElementEvents {
  LaneId lane{};
  ChunkedVector<ProduceEvent> produced;  ///< in order of start
  ChunkedVector<ConsumeEvent> consumed;  ///< in any order
};

/// Fills Trace::produced, and Lane::consumed of the lanes of `events`, whose iterator calls are complete. Ids become
/// indices, which are half as large and need no search. The memory of `events` is freed on the way.
void link_elements(std::vector<ElementEvents> events, Trace& trace, const WorkOptions& work);

/// The value of an iterator's argument and the start of the event that carried it.
struct SeenAttribute {
  Attribute attribute;
  Picoseconds seen = 0;
};

/// The identity of an iterator instance; 0 is an id that the trace does not have. Ids are addresses, which consecutive
/// pipelines reuse, such as a validation and the next epoch of a training whose last steps are the same. The names of
/// their datasets tell them apart.
struct InstanceKey {
  StringId long_name{};
  std::uint64_t id = 0;
  std::uint64_t parent_id = 0;
  std::uint64_t dataset_name = 0;  ///< a number that is unique in the table

  friend bool operator==(const InstanceKey&, const InstanceKey&) = default;
};

struct InstanceKeyHash {
  std::size_t operator()(const InstanceKey& key) const {
    // An odd multiplier spreads both ids, which are random or counted, and long names, which are small numbers.
    const std::uint64_t numbers = index_of(key.long_name) + (key.dataset_name << 16);
    const std::uint64_t mixed = (key.id ^ (key.parent_id << 1)) * 0x9e37'79b9'7f4a'7c15u + numbers;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }
};

/// What one or more events say about the iterator instance that made them.
struct InstanceSighting {
  StringId long_name{};
  StringId dataset_name{};  ///< argument `name` of the first event
  std::optional<std::uint64_t> id;
  std::optional<std::uint64_t> parent_id;
  Picoseconds first_start = 0;
  Picoseconds last_start = 0;
  std::uint64_t event_count = 0;
  std::span<const SeenAttribute> attributes;  ///< the latest value of each; see is_iterator_attribute()
};

/// Tests whether an iterator's argument of this name is kept: settings, and what autotune chose.
bool is_iterator_attribute(std::string_view name);

/// The largest number of iterators that are told apart; recorded traces have hundreds. Calls of further iterators count
/// as those of one with the same name, so that iterators take at most 100 MB, whatever the file.
inline constexpr std::size_t kMostInstances = std::size_t{1} << 17;

/// The iterators of a trace, told apart by long name and ids.
class InstanceTable {
 public:
  /// The instance that these events belong to: a known one, or a new one; beyond kMostInstances, another of its name.
  /// The last value of each attribute counts; of equally late ones, that of the later call.
  InstanceId see(const InstanceSighting& sighting);

  /// The instances. The table is empty afterwards. Instances that it could not tell apart are
  /// added to `loss`.
  IndexedBy<InstanceId, std::deque<IteratorInstance>> take(Loss& loss);

 private:
  InstanceId instance_of(const InstanceSighting& sighting);
  InstanceId instance_like(const InstanceSighting& sighting);

  IndexedBy<InstanceId, std::deque<IteratorInstance>> instances_;
  std::unordered_map<InstanceKey, InstanceId, InstanceKeyHash> ids_;
  std::vector<std::vector<Picoseconds>> attribute_seen_;    ///< by InstanceId and position: when the value was seen
  std::unordered_map<StringId, InstanceId> first_of_name_;  ///< filled once there are kMostInstances
  std::uint64_t calls_of_others_ = 0;
};

/// One event of a thread as a reader hands it on: what nesting needs of it, with strings and instances looked up.
struct LaneEvent {
  Picoseconds start = 0;
  Picoseconds duration = 0;
  /// The id of a function, of the element of Produce and Consume, of the closure that a region runs, or the number of a
  /// step; 0 if none.
  std::uint64_t id = 0;
  std::uint32_t subject = 0;  ///< InstanceId of an iterator, else StringId; see subject_of_event()
  /// length of the full name, which orders events that are alike in time; see name_length_of()
  std::uint16_t name_length = 0;
  EventKind kind = EventKind::other;
};

/// The length of an event's name as LaneEvent holds it.
std::uint16_t name_length_of(std::string_view name);

extern const char* const kNegativeDuration;
extern const char* const kOutsideTimeRange;

/// The reason of Loss for which an event with these times cannot be kept; null if it can. Durations must not be
/// negative, and times must fit PackedSpan.
inline const char* time_fault(Picoseconds start, Picoseconds duration) {
  if (duration < 0) return kNegativeDuration;
  const bool fits =
      start >= PackedSpan::kMinStart && start <= PackedSpan::kMaxStart && duration <= PackedSpan::kMaxDuration;
  return fits ? nullptr : kOutsideTimeRange;
}

/// The largest number of threads of a trace; a profiler records hundreds. Events of further threads are lost, so that
/// threads take at most 200 MB, whatever the file.
inline constexpr std::size_t kMostLanes = std::size_t{1} << 18;

/// Turns the events of a trace into a Trace. One stack for each thread resolves the nesting as events arrive.
///
/// Events of different lanes may come in any order. Within a lane they should come sorted by (start, longest first), as
/// every profiler writes them. If one does not, saw_disorder() becomes true and the trace is unusable: begin again with
/// Order::any, which keeps all events until finish() and sorts them, and takes more memory.
class TraceBuilder {
 public:
  enum class Order { sorted, any };

  explicit TraceBuilder(Order order);
  TraceBuilder(const TraceBuilder&) = delete;
  TraceBuilder& operator=(const TraceBuilder&) = delete;
  ~TraceBuilder();

  StringId intern(std::string_view text) { return trace_.strings.intern(text); }

  /// The lane of a thread; kNoLane beyond kMostLanes. `name` is e.g. "tf_data_iterator_resource/123". May be called
  /// again to name a lane that was made before its name was known.
  LaneId lane(std::uint64_t process, std::uint64_t thread);
  /// A new lane, for a reader that knows its threads itself; kNoLane beyond kMostLanes.
  LaneId add_lane();
  void name_lane(LaneId lane, std::string_view name);

  InstanceId see(const InstanceSighting& sighting) { return instances_.see(sighting); }

  /// Takes events of one lane. None has the kind `other` or a time_fault().
  void add(LaneId lane, std::span<const LaneEvent> events);

  /// Counts events that are lost only because of kMostLanes.
  void lose_events_of_thread(std::uint64_t events);

  /// Counts events that are not kept.
  void count_other(std::uint64_t events) { trace_.event_count += events; }
  /// Counts how many of these a second reading will show.
  void count_for_second_reading(std::uint64_t events) { trace_.compile_and_output_count += events; }

  /// Takes what a loader says about one of its stages; the first ones are kept.
  void add_setting(std::string_view text);

  bool saw_disorder() const { return saw_disorder_; }

  /// For the reader to fill in hosts, devices, format and loss.
  Trace& trace() { return trace_; }

  /// Closes all open events and hands over the trace. The builder is empty afterwards.
  Trace finish(const WorkOptions& work = {});

 private:
  struct OpenEvent;
  struct LaneState;
  struct LaneWork;

  using ThreadKey = std::pair<std::uint64_t, std::uint64_t>;
  /// A lane that is being worked on, with its tables and its state.
  struct Place {
    LaneId lane{};
    Lane& tables;
    LaneState& state;
  };

  LaneWork& work_of(LaneId lane);
  Place place_of(LaneId lane);
  std::size_t take_group(const Place& place, std::span<const LaneEvent> events, std::size_t begin);
  void nest_held(const Place& place);
  void nest(const Place& place, const LaneEvent& event);
  static void close_until(Lane& tables, LaneState& state, Picoseconds start, Picoseconds end);
  static void close(Lane& tables, const OpenEvent& event);
  void finish_lanes(const WorkOptions& work);
  void keep_makings_of_pipelines();
  void keep_outermost_frames();
  void tell_makers_from_consumers();
  std::uint32_t frame_node(const LaneEvent& event, const OpenEvent& around);
  void take_frames_for_calls();
  void add_row(const Place& place, const LaneEvent& event, OpenEvent& opened);
  void add_leaf(const Place& place, const LaneEvent& event, const OpenEvent* around);

  Order order_;
  bool saw_disorder_ = false;
  Trace trace_;
  Interval window_{std::numeric_limits<Picoseconds>::max(), std::numeric_limits<Picoseconds>::min()};
  std::map<ThreadKey, LaneId> lane_ids_;
  /// Indexed by LaneId, in blocks. finish() frees each block before it takes the next, and lanes do not move until
  /// then.
  std::vector<std::unique_ptr<LaneWork[]>> lanes_;
  std::size_t lane_count_ = 0;
  InstanceTable instances_;
  std::unordered_map<std::uint64_t, std::uint32_t> frame_nodes_;  ///< by parent and name
};

/// An event that is open on a thread at one moment. Each entry holds the answers for the events nested in it, so that
/// nesting an event looks only at the innermost entry.
struct TraceBuilder::OpenEvent {
  EventKind kind = EventKind::other;
  bool in_executor = false;
  bool awaits_item = false;  ///< it asks for an element, and no `__getitem__` is around
  bool in_maker = false;     ///< it makes elements ahead of next(), or is inside of what does
  Picoseconds start = 0;
  Picoseconds end = 0;
  std::uint64_t function_id = 0;        ///< of the innermost executor span, else of the innermost function run
  std::uint32_t own_row = kNoRow;       ///< row of this event in the table of its kind
  std::uint32_t iterator_row = kNoRow;  ///< innermost iterator call, including this one
  std::uint32_t get_next = kNoRow;      ///< outermost GetNext call, including this one
  std::uint32_t produce = kNoRow;       ///< innermost Produce without an iterator call in between
  std::uint32_t executor = kNoRow;      ///< innermost executor span that is kept
  std::uint32_t making = kNoMaking;     ///< outermost MakeIterator, including this one
  std::uint32_t python_call = kNoRow;   ///< innermost call from Python that is kept
  std::uint32_t frame = kNoRow;         ///< innermost node of LoaderFrames::nodes, including this one's
};

struct TraceBuilder::LaneState {
  std::vector<OpenEvent> open;
  /// Events of the latest start time, to sort ties; with Order::any, all events.
  std::vector<LaneEvent> held;
  ElementEvents elements;
  Picoseconds latest_start = std::numeric_limits<Picoseconds>::min();  ///< of the events nested so far
  Picoseconds region_start = 0;
  bool region_is_open = false;
  bool is_compute_pool = false;  ///< in compute (Eigen) threads only, regions are work that no op event shows
};

struct TraceBuilder::LaneWork {
  Lane tables;
  LaneState state;
};

/// Makes each instance one object: (long name, id, parent id) and a lifetime. The runtime derives an iterator's id from
/// its long name and address, so a new object may get the id of one that is gone. In later epochs the same ids come
/// again, below the same parents or others, even as those of another pipeline.
///
/// A pipeline begins a new life where it is made: before the first call of its outermost iterator, where that iterator
/// calls another input than before, or where the window shows a creation that no other pipeline needs. Everything below
/// lives as long.
///
/// Also finds which creation (Trace::makings) made each outermost instance.
void tell_lives_apart(Trace& trace);

/// Adds to Trace::loss what the calls of the trace show that no program can do: they last no time, an element is taken
/// before it is made, a call is in another thread at the same time, or goes on while the same thread makes the next
/// one. Then a profiler, or whatever wrote the file since, lost or changed times. All else of the trace must be there.
void doubt_calls(Trace& trace);

}  // namespace doctor
