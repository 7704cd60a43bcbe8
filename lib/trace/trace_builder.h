#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/event_kind.h"
#include "trace/trace.h"

namespace doctor {

/// One event as a reader hands it on. Strings are interned in the builder's trace; arguments that the kind does not
/// use may be left out.
struct RawEvent {
  EventKind kind = EventKind::other;
  StringId name{};  ///< long name of an iterator, `node:Type` of an op, else the event's name
  Picoseconds start = 0;
  Picoseconds duration = 0;
  std::optional<std::uint64_t> id;          ///< of an iterator, function run or executor span
  std::optional<std::uint64_t> parent_id;   ///< of an iterator
  std::optional<std::uint64_t> element_id;  ///< of Produce and Consume
  std::int64_t step_number = 0;             ///< of a step marker
  StringId dataset_name{};                  ///< argument `name` of an iterator
  std::span<const Attribute> attributes;    ///< further arguments of an iterator, see is_iterator_attribute()
};

/// Whether an iterator's argument of this name is kept: what was configured and what autotune chose.
bool is_iterator_attribute(std::string_view name);

/// Turns the events of a trace into a Trace, resolving the nesting of each thread with one stack as they arrive.
///
/// Events of different lanes may be mixed. Within a lane they should come sorted by (start, longest first), as every
/// profiler writes them. Where one does not, saw_disorder() becomes true and the trace is unusable: begin again with
/// Order::any, which keeps all events until finish() and sorts them, at the price of memory.
class TraceBuilder {
 public:
  enum class Order { sorted, any };

  explicit TraceBuilder(Order order);
  TraceBuilder(const TraceBuilder&) = delete;
  TraceBuilder& operator=(const TraceBuilder&) = delete;
  ~TraceBuilder();

  StringId intern(std::string_view text) { return trace_.strings.intern(text); }

  /// The lane of a thread; `name` is e.g. "tf_data_iterator_resource/123". May be called again to name a lane
  /// that was made before its name was known.
  LaneId lane(std::uint64_t process, std::uint64_t thread);
  void name_lane(LaneId lane, std::string_view name);

  /// Takes one event. Negative durations are counted as loss and dropped; kind `other` is only counted.
  void add(LaneId lane, const RawEvent& event);

  /// Counts events that a reader did not need to decode because of their names.
  void count_other(std::uint64_t events) { trace_.event_count += events; }

  bool saw_disorder() const { return saw_disorder_; }

  /// For the reader to fill in hosts, devices, format and loss.
  Trace& trace() { return trace_; }

  /// Closes all open events and hands over the trace. The builder is empty afterwards.
  Trace finish();

 private:
  struct OpenEvent;
  struct LaneState;
  struct StoredEvent;

  using ThreadKey = std::pair<std::uint64_t, std::uint64_t>;
  using InstanceKey = std::tuple<StringId, std::uint64_t, std::uint64_t>;  ///< long name, id, parent id

  bool comes_before(const StoredEvent& a, const StoredEvent& b) const;
  void nest_held(LaneId lane);
  void nest_stored();
  void nest(LaneId lane, const StoredEvent& event);
  void close_until(LaneId lane, Picoseconds start, Picoseconds end);
  static void close(Lane& tables, const OpenEvent& event);
  void add_row(Lane& tables, LaneState& state, const StoredEvent& event, OpenEvent& opened);
  InstanceId instance_of(const RawEvent& event);
  StringId op_type(StringId name);

  Order order_;
  bool saw_disorder_ = false;
  Trace trace_;
  Interval window_{std::numeric_limits<Picoseconds>::max(), std::numeric_limits<Picoseconds>::min()};
  std::map<ThreadKey, LaneId> lane_ids_;
  std::vector<LaneState> lane_states_;            ///< indexed by LaneId
  std::vector<std::vector<StoredEvent>> stored_;  ///< indexed by LaneId; only with Order::any
  std::map<InstanceKey, InstanceId> instance_ids_;
  std::unordered_map<StringId, StringId> op_types_;  ///< interned `node:Type` -> interned `Type`
};

}  // namespace doctor
