#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace_builder.h"
#include "trace/xspace_names.h"
#include "trace/xspace_walk.h"

namespace doctor {

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
