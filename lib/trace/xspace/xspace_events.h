#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/trace_builder.h"
#include "trace/wire.h"
#include "trace/xspace/xspace_names.h"
#include "trace/xspace/xspace_windows.h"

namespace doctor {

/// An attribute of an event as it stands in the file. Its bytes lie in the window.
struct RawStat {
  const StatName* stat = nullptr;
  WireField value;
  Picoseconds seen = 0;  ///< start of the event
};

/// The latest event of an instance with a certain set of attributes, whose values are not read yet. Nearly all events
/// of an instance carry the same attributes, so only the last needs to be read.
struct UnreadAttributes {
  std::string_view event;       ///< empty if there is none
  std::uint64_t signature = 0;  ///< the names of the attributes and their order
  Picoseconds seen = 0;
};

/// What the events of one window say about one iterator instance.
struct RawSighting {
  const PlaneNames* plane = nullptr;
  StringId long_name{};
  std::optional<std::uint64_t> id;
  std::optional<std::uint64_t> parent_id;
  WireField dataset_name;  ///< of the first event; without a tag if it has none
  Picoseconds first_start = 0;
  Picoseconds last_start = 0;
  std::uint64_t event_count = 0;
  /// The events with the last two signatures, in the order in which these appeared. If every second event of an
  /// instance carries one attribute more, the signatures alternate.
  std::array<UnreadAttributes, 2> unread;
  std::vector<RawStat> attributes;  ///< the latest value of each
};

/// The instances that are met in one window.
class SightingTable {
 public:
  /// The index of the instance in sightings(), which is extended if it is new.
  std::uint32_t find(const PlaneNames& plane, const InstanceKey& key, bool& is_new);

  RawSighting& operator[](std::uint32_t index) { return sightings_[index]; }
  std::vector<RawSighting>& sightings() { return sightings_; }
  void clear();

 private:
  struct Recent {
    InstanceKey key;
    std::uint32_t index = kNoRow;
  };

  std::vector<RawSighting> sightings_;
  std::unordered_map<InstanceKey, std::uint32_t, InstanceKeyHash> indices_;
  std::array<Recent, 64> recent_;  ///< placed by hash: the events of a thread repeat a few instances over and over
};

/// The events of one line in a window.
struct LineRun {
  const LinePart* line = nullptr;
  std::size_t end = 0;  ///< its events are [end of the previous run, end) of DecodedEvents
};

/// The attributes of one iterator event.
struct CarriedAttributes {
  std::size_t event = 0;  ///< index into DecodedEvents::events
  std::size_t end = 0;    ///< its attributes are [end of the previous event, end) of DecodedEvents
};

/// An event that puts a closure into the queue of a thread pool.
struct QueuedEvent {
  std::uint64_t id = 0;  ///< shared with the event that starts the closure
  Picoseconds start = 0;
  std::size_t place = 0;  ///< the index in DecodedEvents::events that it precedes
};

/// The events of one window. The subject of an iterator's event is an index into `instances` until the window is merged
/// into a trace.
struct DecodedEvents {
  std::vector<LaneEvent> events;
  std::vector<LineRun> runs;
  SightingTable instances;
  std::vector<CarriedAttributes> carried;  ///< of every iterator event, if histories are wanted
  std::vector<RawStat> attributes;         ///< their attributes
  std::vector<QueuedEvent> queued;
  /// other events to be shown by a second reading: see is_for_second_reading()
  std::uint64_t compile_and_output_events = 0;
  std::uint64_t other_events = 0;
  Loss loss;
};

/// Replaces `decoded` by the events of `window`, as far as their names (`planes`, indexed as in LinePart) call for it.
/// The attributes of every event are read only if `with_history`. The result depends on the window alone.
void decode_events(const EventWindow& window, std::span<const PlaneNames> planes, bool with_history,
                   DecodedEvents& decoded);

}  // namespace doctor
