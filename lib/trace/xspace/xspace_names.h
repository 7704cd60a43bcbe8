#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/byte_source.h"
#include "trace/event_reader.h"
#include "trace/xspace/xla_programs.h"
#include "trace/xspace/xspace_walk.h"
#include "trace/xspace/xspace_wire.h"

namespace doctor {

/// A table by metadata id. Ids are small and dense in practice, but a file may hold any int64.
template <typename Value>
class MetadataTable {
 public:
  Value& operator[](std::uint64_t id) {
    if (id >= kDense) return sparse_[id];
    if (id >= dense_.size()) dense_.resize(id + 1);
    dense_size_ = dense_.size();
    return dense_[id];
  }
  const Value* find(std::uint64_t id) const {
    if (id < dense_size_) return dense_.data() + id;
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? nullptr : &found->second;
  }
  /// Calls `visit(id, Value&)` for all values, including the empty ones between small ids.
  template <typename Visit>
  void visit_all(Visit visit) {
    for (std::size_t id = 0; id < dense_.size(); ++id) visit(id, dense_[id]);
    for (auto& [id, value] : sparse_) visit(id, value);
  }

 private:
  static constexpr std::uint64_t kDense = 1 << 16;
  std::vector<Value> dense_;
  std::size_t dense_size_ = 0;  ///< kept, because it takes a division and is asked for with every event
  std::unordered_map<std::uint64_t, Value> sparse_;
};

/// An entry of `event_metadata`.
struct EventMetadata {
  std::size_t number = 0;  ///< over all planes, from 1
  std::string name;
  std::size_t plain_size = 0;  ///< size of the name; for a host, without_encoded_arguments()
  std::string display_name;
  std::vector<std::string> stats;  ///< statistics that every event of this name carries, in wire format

  std::string_view plain_name() const { return std::string_view(name).substr(0, plain_size); }
};

/// The use of the events of one name.
struct NameUse {
  EventUse use;
  bool is_skipped = false;            ///< no event of this name can be used
  bool has_wanted_statistics = true;  ///< false: none of its events has a statistic that is used
  bool is_named = false;
};

/// An entry of `stat_metadata`.
struct StatMetadata {
  std::string name;
  ArgumentGroups groups = 0;
  std::uint32_t number = 0;  ///< over all planes, from 1
};

/// The group of the arguments of a GPU's events by which this reader names the op of XLA that launched them.
inline constexpr ArgumentGroups kNamesXlaOp = 1 << 15;

struct PlaneMetadata {
  EventPlane plane;
  MetadataTable<EventMetadata> events;  ///< empty if names are not handed on
  MetadataTable<NameUse> uses;          ///< by the same ids
  NameUse unnamed;                      ///< of events whose id no name has
  MetadataTable<StatMetadata> stats;
  std::vector<ArgumentGroups> usual_groups;  ///< of the statistics whose ids have one byte, or two
  std::uint64_t name_count = 0;
  std::uint64_t name_bytes = 0;  ///< two planes of one name never have as many names with as many bytes
  /// True if the plane has a name that no profiler gives it: bytes that are not text, a second name, or the name of
  /// something other than a host beside names of iterators, which only hosts have. A damaged length makes such planes
  /// of a sound file, and their content would then be taken for another kind of plane, or for none.
  bool is_misnamed = false;
  const XlaPrograms* programs = nullptr;  ///< that run on it; null where the file has none, or the plane is not a GPU
};

/// The first walk over an XSpace: it collects the names, and asks the sink what it uses.
class MetadataReader final : public PlaneVisitor {
 public:
  MetadataReader(EventSink& sink, WantedPlanes wanted) : sink_(sink), wanted_(wanted) {}

  std::deque<PlaneMetadata> planes;  ///< in file order; lines point to them
  EventHeader header;

  XlaPrograms& programs() { return programs_; }

  void host_name(std::string_view name) override { header.hosts.emplace_back(name); }
  void begin_plane() override { planes.emplace_back().plane.index = planes.size() - 1; }
  void plane_name(std::string_view name) override;
  void event_metadata(const MetadataEntry& entry) override;
  void stat_metadata(const MetadataEntry& entry) override;
  void plane_stat(std::string_view stat) override;

  /// Completes the header after the walk.
  void finish_header(const XSpaceClock& clock);
  void ask_sink();
  /// Adds what makes the file as a whole doubtful.
  void add_doubts(const ByteSource& source, Loss& loss) const;

 private:
  /// A number in the plane about the recording. The name of its statistic may come later.
  struct RecordingStat {
    std::size_t plane = 0;
    std::uint64_t name = 0;  ///< metadata id of its name
    std::int64_t value = 0;
  };

  std::int64_t recording_time(std::string_view name) const;
  void read_programs();
  void ask_sink(PlaneMetadata& plane);
  ArgumentGroups groups_of(const PlaneMetadata& plane, std::string_view argument) const;
  std::vector<std::string> repeated_planes() const;

  EventSink& sink_;
  WantedPlanes wanted_;
  std::size_t name_count_ = 0;
  std::uint32_t stat_count_ = 0;
  XlaPrograms programs_;
  std::vector<RecordingStat> recording_stats_;
};

}  // namespace doctor
