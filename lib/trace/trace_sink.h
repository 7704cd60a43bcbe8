#pragma once

#include <array>
#include <cmath>

#include "base/work.h"
#include "io/byte_source.h"
#include "trace/event_reader.h"
#include "trace/format.h"
#include "trace/trace_builder.h"

namespace doctor {

/// Pairs the event that puts a closure into the queue of a thread pool with the event that starts it on a thread. Both
/// carry an id, and come in any order, because threads follow one another in a file.
///
/// Memory is bounded: when more than a fixed number of closures are held, paired or not, every second one is dropped by
/// a hash of its id, and so on. The same calls in the same order keep the same closures.
class QueueSampler {
 public:
  /// The largest number of closures held. Few of them wait for most of the time: with a quarter of this number the
  /// waiting time was off by 28 %.
  static constexpr std::size_t kCapacity = 32'768;

  /// Ids other than 0 are opaque. If an id comes again before its other half, the later event counts.
  void queued(std::uint64_t id, Picoseconds start);
  /// A closure that starts before it was queued is dropped: its id was reused.
  void started(std::uint64_t id, Picoseconds start, LaneId lane);

  /// Hands over the pairs. The sampler is empty afterwards.
  QueueSample finish();

 private:
  /// One of the two events, while the other has not come.
  struct Half {
    std::uint64_t id = 0;  ///< 0: the place is free
    Picoseconds start = 0;
    LaneId lane{};
    bool is_started = false;
  };

  bool is_sampled(std::uint64_t id) const;
  void take(const Half& half);
  void thin_out();

  std::size_t home_of(std::uint64_t id) const;
  std::size_t place_of(std::uint64_t id) const;
  void free_place(std::size_t place);
  void rebuild(std::size_t size);

  unsigned halvings_ = 0;  ///< one of 2^halvings_ closures is kept
  /// A hash table with open addressing, at most three quarters full. The number of its places is a power of two, or 0.
  std::vector<Half> halves_;
  std::size_t half_count_ = 0;
  /// The pairs, and beside them their ids. Neither moves when it grows, and what is handed over is not copied: a pair
  /// is written once.
  std::vector<QueuedClosure> closures_;
  std::vector<std::uint64_t> ids_;
};

/// Follows the attributes of every iterator event, thread by thread, and keeps only the changes of a value.
///
/// Events of different lanes may come in any order. Within a lane they come in order of time. If they do not
/// (`is_sorted` false, see TraceBuilder::Order::any), every value is kept until finish() and sorted there.
class AttributeTracker {
 public:
  explicit AttributeTracker(bool is_sorted) : is_sorted_(is_sorted) {}

  /// Notes that an event of `instance` on `lane` carried these attributes and no others.
  void note(LaneId lane, InstanceId instance, Picoseconds start, std::span<const Attribute> attributes);

  std::vector<AttributeTrack> finish();

 private:
  void add(AttributeTrack& track, const AttributeRun& run) const;
  AttributeTrack& track_of(std::vector<std::uint32_t>& known, LaneId lane, InstanceId instance, StringId name);

  bool is_sorted_;
  std::vector<AttributeTrack> tracks_;
  /// Indices into tracks_, by lane and instance.
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> known_;
};

/// An argument of an iterator. Its text lives as that of an EventArgument.
struct IteratorArgument {
  std::string_view name;
  bool is_text = false;
  bool has_range = false;  ///< its Attribute::range is wanted
  std::string_view text;
  std::int64_t number = 0;
};

/// A real number as attributes have them.
inline std::int64_t to_integer(double real) {
  return std::isnan(real) ? 0 : static_cast<std::int64_t>(std::clamp(real, -9e18, 9e18));
}

/// The same, kept.
struct KeptArgument {
  std::string name;
  bool is_text = false;
  std::string text;
  std::int64_t number = 0;
  Picoseconds seen = 0;    ///< start of the event that carried it
  NumberRange range = {};  ///< of IteratorArgument::has_range
};

/// What the events of a piece of a file say about one iterator instance.
struct PieceInstance {
  StringId long_name{};
  std::string dataset_name;
  std::optional<std::uint64_t> id;
  std::optional<std::uint64_t> parent_id;
  Picoseconds first_start = 0;
  Picoseconds last_start = 0;
  std::uint64_t event_count = 0;         ///< 0: this piece has none of its events
  std::vector<KeptArgument> attributes;  ///< the latest value of each, also from pieces before
  // Of its last event in this piece, where histories are wanted.
  const EventLine* carried_on = nullptr;
  std::size_t carried_begin = 0;  ///< its attributes are [carried_begin, carried_end) of TracePart::attributes_
  std::size_t carried_end = 0;
};

/// Which events are kept with all of their attributes.
enum class CarriedEvents {
  none,
  changes,  ///< those that carry others than the event before, of the same iterator on the same line
  all,
};

/// The events of a piece of a file, reduced to what a Trace needs of them. It says the same whatever pieces came
/// before. A reader in a hurry gives it an event's arguments one by one, and then the event; others give it
/// TraceEvents.
class TracePart final : public EventSink {
 public:
  // Groups of arguments. The number of a step is the mark: user code names its steps as it likes.
  static constexpr ArgumentGroups kStepNumber = kMarks;
  static constexpr ArgumentGroups kId = 1 << 1;
  static constexpr ArgumentGroups kParentId = 1 << 2;
  static constexpr ArgumentGroups kElementId = 1 << 3;
  static constexpr ArgumentGroups kDatasetName = 1 << 4;
  static constexpr ArgumentGroups kClosure = 1 << 5;
  static constexpr ArgumentGroups kAttribute = 1 << 6;
  static constexpr ArgumentGroups kRangedAttribute = 1 << 7;  ///< of which every event counts

  static constexpr bool is_attribute(ArgumentGroups group) { return group == kAttribute || group == kRangedAttribute; }

  explicit TracePart(CarriedEvents carried) : carries_(carried) {}

  void take(const TraceEvent& event) override;
  std::size_t size() const { return events_.size() + queued_.size(); }

  void begin_event() {
    has_ = 0;
    arguments_.clear();
  }
  /// A number of one of the other groups.
  void take_number(ArgumentGroups group, std::uint64_t number) {
    has_ |= group;
    (group == kParentId ? parent_id_ : id_) = number;
  }
  /// `key` tells names of datasets apart.
  void take_dataset_name(std::uint64_t key, std::string_view name) {
    has_ |= kDatasetName;
    dataset_key_ = key;
    dataset_name_ = name;
  }
  void take_attribute(const IteratorArgument& attribute) { arguments_.push_back(attribute); }
  /// Ends the event, with the meanings of its long and of its brief name. Returns the index of its instance, kNoRow if
  /// it is not an iterator's.
  std::uint32_t end_event(const EventLine& line, Picoseconds start, Picoseconds duration, std::uint64_t meaning,
                          std::uint64_t short_meaning);
  /// Keeps the attributes that were taken for an instance whose event ended before. Only the latest counts.
  void keep_attributes(std::uint32_t instance, Picoseconds seen) {
    keep_attributes(instances_[instance].attributes, seen);
  }
  /// Tests whether the event that is taken has the number of a step.
  bool has_step_number() const { return (has_ & kStepNumber) != 0; }
  /// Keeps the name that was taken as what a loader says about one of its stages.
  void keep_setting();
  /// True: the attributes of each event are taken before it ends.
  bool with_history() const { return carries_ != CarriedEvents::none; }

 private:
  friend class TraceSink;

  /// Consecutive events of one line.
  struct Run {
    const EventLine* line = nullptr;
    std::size_t end = 0;  ///< its events are [end of the previous run, end) of events_
  };
  /// The attributes of one iterator event.
  struct Carried {
    std::size_t event = 0;  ///< index into events_
    std::size_t end = 0;    ///< its attributes are [end of the previous event, end) of attributes_
  };
  /// An event that puts a closure into the queue of a thread pool.
  struct Queued {
    std::uint64_t id = 0;  ///< shared with the event that starts the closure
    Picoseconds start = 0;
    std::size_t place = 0;  ///< the index in events_ that it precedes
  };
  struct Recent {
    InstanceKey key;
    std::uint32_t index = kNoRow;
  };

  void add(const EventLine& line, const LaneEvent& event) {
    if (runs_.empty() || runs_.back().line != &line) runs_.push_back({&line, 0});
    events_.push_back(event);
    runs_.back().end = events_.size();
  }
  void take_derived_step(const TraceEvent& event);
  std::uint32_t see(const EventLine& line, StringId long_name, Picoseconds start);
  std::uint32_t index_of_instance(const InstanceKey& key);
  void keep_attributes(std::vector<KeptArgument>& kept, Picoseconds seen) const;
  bool is_carried_again(const EventLine& line, const PieceInstance& instance) const;
  void carry(const EventLine& line, Picoseconds start, PieceInstance& instance);
  void clear();
  void forget_instances();

  CarriedEvents carries_;
  // Of the event that is taken.
  ArgumentGroups has_ = 0;
  std::uint64_t id_ = 0;  ///< of whatever group but that of parents
  std::uint64_t parent_id_ = 0;
  std::uint64_t dataset_key_ = 0;
  std::string_view dataset_name_;
  std::vector<IteratorArgument> arguments_;
  // Of the piece.
  std::vector<LaneEvent> events_;  ///< the subject of an iterator's event is an index into instances_
  std::vector<Run> runs_;
  std::vector<PieceInstance> instances_;
  std::vector<std::uint32_t> met_;  ///< instances with events in this piece, in order
  std::unordered_map<InstanceKey, std::uint32_t, InstanceKeyHash> indices_;
  std::array<Recent, 64> recent_;  ///< placed by hash: the events of a thread repeat a few instances over and over
  std::vector<Carried> carried_;
  std::vector<KeptArgument> attributes_;
  std::vector<Queued> queued_;
  std::uint64_t compile_and_output_count_ = 0;
  std::vector<std::string> settings_;  ///< of a loader, distinct ones
  bool has_markers_ = false;
};

/// The meaning of a name, as EventUse::meaning of a TraceSink holds it.
struct NameMeaning {
  EventKind kind = EventKind::other;
  std::uint16_t length = 0;  ///< see name_length_of()
  StringId subject{};        ///< see subject_of_event()

  static NameMeaning of(std::uint64_t packed) {
    return {static_cast<EventKind>(packed & 0xff), static_cast<std::uint16_t>(packed >> 8),
            static_cast<StringId>(packed >> 32)};
  }
  std::uint64_t packed() const {
    return static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(length) << 8 |
           static_cast<std::uint64_t>(index_of(subject)) << 32;
  }
};

// Inlined by force into the reader's loop over events.
[[gnu::always_inline]] inline std::uint32_t TracePart::end_event(const EventLine& line, Picoseconds start,
                                                                 Picoseconds duration, std::uint64_t meaning,
                                                                 std::uint64_t short_meaning) {
  const NameMeaning brief = NameMeaning::of(short_meaning);
  const bool may_have_long_name = brief.kind == EventKind::iterator || brief.kind == EventKind::other;
  const NameMeaning name = NameMeaning::of(may_have_long_name ? meaning : short_meaning);
  const std::uint64_t id = (has_ & (kId | kElementId | kClosure | kStepNumber)) != 0 ? id_ : 0;
  std::uint32_t instance = kNoRow;
  LaneEvent kept{start, duration, id, static_cast<std::uint32_t>(index_of(name.subject)), name.length, brief.kind};
  switch (brief.kind) {
    case EventKind::iterator:
      kept.subject = instance = see(line, name.subject, start);
      break;
    case EventKind::region_queued:
      if (id != 0) queued_.push_back({id, start, events_.size()});
      return instance;
    case EventKind::compilation:
    case EventKind::output:
      ++compile_and_output_count_;
      return instance;
    case EventKind::next_frame:
    case EventKind::maker_frame:
      if ((has_ & kDatasetName) != 0) keep_setting();
      break;
    case EventKind::other:
      if (name.kind == EventKind::op) {
        kept.kind = EventKind::op;
        break;
      }
      if ((has_ & kStepNumber) == 0) return instance;
      kept.kind = EventKind::step;
      kept.name_length = brief.length;
      has_markers_ = true;
      break;
    case EventKind::step:
      has_markers_ = true;
      break;
    default:
      break;
  }
  add(line, kept);
  return instance;
}

/// Makes a Trace of the events that a diagnosis needs, of which it says which they are. Times and threads are those of
/// one file, or of several that are read as one.
class TraceSink final : public PartedSink {
 public:
  explicit TraceSink(const TraceNeeds& needs) : needs_(needs), own_(carried_events()) { begin_again(); }

  ArgumentGroups groups_of(std::string_view argument) const override;
  EventUse use_of(std::string_view name) override;
  void take(const TraceEvent& event) override;
  void end(const EventHeader& header) override;
  std::unique_ptr<EventSink> make_part() override { return std::make_unique<TracePart>(carried_events()); }
  void join(EventSink& part) override;
  /// Forgets the events. If a thread was not in order, the next ones may come in any.
  bool begin_again() override;
  bool is_done() const override { return saw_disorder(); }

  /// True if a thread is not in order: begin again.
  bool saw_disorder() const { return builder_->saw_disorder(); }

  /// Hands over the trace of a source that was read to its end.
  Trace finish(EventTotals totals, const ByteSource& source, const WorkOptions& work);

 private:
  /// An event out of order may stand between two that carry the same.
  CarriedEvents carried_events() const {
    if (!needs_.attribute_history) return CarriedEvents::none;
    return order_ == TraceBuilder::Order::sorted ? CarriedEvents::changes : CarriedEvents::all;
  }
  LaneId lane_of(const EventLine& line);
  InstanceId see(const PieceInstance& instance);
  Attribute to_attribute(const KeptArgument& argument);
  void queue_until(const TracePart& part, std::size_t place, std::size_t& next);
  void add_run(TracePart& part, const TracePart::Run& run, std::size_t begin, std::size_t& next_queued);
  void track(const TracePart& part, std::size_t end, LaneId lane);
  void add_derived_steps();
  void doubt_iterators(const ByteSource& source, Trace& trace) const;
  void doubt_window(const ByteSource& source, Trace& trace) const;

  TraceNeeds needs_;
  TraceBuilder::Order order_ = TraceBuilder::Order::sorted;
  std::unique_ptr<TraceBuilder> builder_;
  QueueSampler queue_;
  std::optional<AttributeTracker> tracker_;  ///< where histories are wanted
  TracePart own_;                            ///< events that came one by one
  std::vector<LaneId> lanes_;                ///< by EventLine::index; kNoLane: no event of the line was kept
  std::vector<std::pair<const EventLine*, LaneId>> named_;
  std::vector<InstanceId> instances_;  ///< of the part that is joined
  std::vector<SeenAttribute> seen_;
  std::vector<Attribute> attributes_;
  std::size_t next_carried_ = 0;  ///< of the part that is joined
  std::vector<std::pair<LaneId, LaneEvent>> derived_steps_;
  std::vector<StringId> listed_iterators_;
  bool has_markers_ = false;
  EventHeader header_;
};

}  // namespace doctor
