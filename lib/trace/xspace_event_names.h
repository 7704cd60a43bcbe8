#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event_reader.h"
#include "trace/xspace_names.h"
#include "trace/xspace_walk.h"

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

}  // namespace doctor
