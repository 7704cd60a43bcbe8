#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/event_kind.h"
#include "trace/event_reader.h"
#include "trace/trace_builder.h"
#include "trace/xspace/xspace_walk.h"
#include "trace/xspace/xspace_wire.h"

namespace doctor {

/// The use of a statistic of an event.
enum class StatRole : std::uint8_t { unused, id, parent_id, element_id, step_number, dataset_name, attribute, closure };

struct StatName {
  std::string name;
  StatRole role = StatRole::unused;
};

struct EventName {
  EventKind kind = EventKind::other;
  std::uint16_t length = 0;  ///< see name_length_of()
  StringId subject{};        ///< see subject_of_event()
};

/// A table by metadata id. Ids are small and dense in practice, but a file may hold any int64.
template <typename Value>
class MetadataTable {
 public:
  Value& operator[](std::uint64_t id) {
    if (id >= kDense) return sparse_[id];
    if (id >= dense_.size()) dense_.resize(id + 1);
    return dense_[id];
  }
  const Value* find(std::uint64_t id) const {
    if (id < dense_.size()) return &dense_[id];
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? nullptr : &found->second;
  }
  /// Calls `visit(Value&)` for all values, including the empty ones between small ids.
  template <typename Visit>
  void visit_all(Visit visit) {
    for (Value& value : dense_) visit(value);
    for (auto& [id, value] : sparse_) visit(value);
  }

 private:
  static constexpr std::uint64_t kDense = 1 << 16;
  std::vector<Value> dense_;
  std::unordered_map<std::uint64_t, Value> sparse_;
};

/// The names of one plane, which the first walk yields.
struct PlaneNames {
  std::string name;
  MetadataTable<EventName> events;
  MetadataTable<StatName> stats;
  std::uint64_t event_name_count = 0;
  bool has_step_numbers = false;
  bool has_foreign_iterators = false;  ///< true if a plane that is not a host's has names of iterators
  std::vector<StringId> iterators;     ///< for a host: the long names in its metadata, each once

  std::vector<StatRole> stat_roles;  ///< indexed by metadata id, for small ids

  StatRole role_of_stat(std::uint64_t id) const {
    if (id < stat_roles.size()) return stat_roles[id];
    const StatName* const stat = stats.find(id);
    return stat == nullptr ? StatRole::unused : stat->role;
  }

  bool is_host() const { return kind_of_plane(name) == PlaneKind::host; }
  bool is_device() const { return kind_of_plane(name) == PlaneKind::device; }
};

/// Takes one entry of a plane's `event_metadata` or `stat_metadata` map. Names of events that are kept are interned.
void add_event_name(PlaneNames& plane, const MetadataEntry& entry, TraceBuilder& builder);
void add_stat_name(PlaneNames& plane, const MetadataEntry& entry);

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

}  // namespace doctor
