#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/event_reader.h"
#include "trace/trace_builder.h"
#include "trace/wire.h"
#include "trace/xspace/xspace_names.h"
#include "trace/xspace/xspace_walk.h"
#include "trace/xspace/xspace_windows.h"

namespace doctor {

/// An entry of `event_metadata`.
struct EventMetadata {
  std::size_t number = 0;  ///< over all planes, from 1
  std::string name;
  std::size_t plain_size = 0;  ///< size of the name; for a host, without_encoded_arguments()
  std::string display_name;
  std::vector<std::string> stats;  ///< statistics that every event of this name carries, in wire format
  EventUse use;
  bool is_skipped = false;            ///< no event of this name can be used
  bool has_wanted_statistics = true;  ///< false: none of its events has a statistic that is used

  std::string_view plain_name() const { return std::string_view(name).substr(0, plain_size); }
};

/// An entry of `stat_metadata`.
struct StatMetadata {
  std::string name;
  ArgumentGroups groups = 0;
  std::uint32_t number = 0;  ///< over all planes, from 1
};

struct PlaneMetadata {
  EventPlane plane;
  MetadataTable<EventMetadata> events;
  MetadataTable<StatMetadata> stats;
  std::array<ArgumentGroups, 128> usual_groups{};  ///< of the statistics whose ids have one byte
};

/// Asks the sink what it will use.
void ask_sink(const EventSink& sink, PlaneMetadata& plane);

/// The first walk over a file of which every event is read: it collects the names.
class MetadataReader final : public PlaneVisitor {
 public:
  std::deque<PlaneMetadata> planes;  ///< in file order; lines point to them
  EventHeader header;

  void host_name(std::string_view name) override { header.hosts.emplace_back(name); }

  void begin_plane() override { planes.emplace_back().plane.index = planes.size() - 1; }

  void plane_name(std::string_view name) override {
    planes.back().plane.name = name;
    planes.back().plane.kind = kind_of_plane(name);
    if (is_whole_device(name)) header.devices.emplace_back(name);
  }

  void event_metadata(const MetadataEntry& entry) override;
  void stat_metadata(const MetadataEntry& entry) override;

 private:
  std::size_t name_count_ = 0;
  std::uint32_t stat_count_ = 0;
};

/// Takes the names of the events that the diagnosis wants.
class NameReader final : public PlaneVisitor {
 public:
  NameReader(TraceBuilder& builder, std::vector<PlaneNames>& planes) : builder_(builder), planes_(planes) {}

  void host_name(std::string_view name) override { builder_.trace().hosts.emplace_back(name); }
  void begin_plane() override;
  void plane_name(std::string_view name) override;
  void event_metadata(const MetadataEntry& entry) override;
  void stat_metadata(const MetadataEntry& entry) override { add_stat_name(planes_.back(), entry); }
  void plane_stat(std::string_view stat) override;

  /// The planes that occur twice in the file, for example because its bytes were copied one after another.
  std::vector<std::string> repeated_planes() const;

  /// Planes with a name that no profiler gives them: bytes that are not text, a second name, or the name of something
  /// other than a host beside names of iterators, which only hosts have. A damaged length makes such planes of a sound
  /// file, and their content would then be taken for another kind of plane, or for none.
  std::set<std::size_t> misnamed_planes() const;

  /// The start of the recording, in nanoseconds since 1970; 0 if the file does not say.
  std::int64_t recording_start() const { return recording_time("profile_start_time"); }

  /// The length of the recording; 0 if the file does not say.
  Picoseconds recording_length() const;

 private:
  /// A number in the plane about the recording. The name of its statistic may come later.
  struct RecordingStat {
    std::size_t plane = 0;
    std::uint64_t name = 0;  ///< metadata id of its name
    std::int64_t value = 0;
  };

  /// Size of the names of a plane's events: two planes of one name never have as many names with as many bytes.
  struct NamesSize {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
  };

  std::int64_t recording_time(std::string_view name) const;

  TraceBuilder& builder_;
  std::vector<PlaneNames>& planes_;
  std::vector<NamesSize> sizes_;    ///< indexed as the planes
  std::set<std::size_t> misnamed_;  ///< indices of planes
  std::vector<RecordingStat> recording_stats_;
};

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
