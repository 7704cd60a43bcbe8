#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/event_kind.h"
#include "trace/event_reader.h"
#include "trace/trace_builder.h"
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

}  // namespace doctor
