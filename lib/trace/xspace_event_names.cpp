#include "trace/xspace_event_names.h"

#include "trace/wire.h"
#include "trace/xspace_wire.h"

namespace doctor {

using namespace xspace_field;

void ask_sink(const EventSink& sink, PlaneMetadata& plane) {
  const bool is_of_host = plane.plane.kind == PlaneKind::host;
  ArgumentGroups groups = 0;
  plane.stats.visit_all([&](StatMetadata& stat) {
    if (stat.name.empty()) return;
    stat.groups = is_of_host ? sink.groups_of(stat.name) : kAllArguments;
    groups |= stat.groups;
  });
  for (std::size_t id = 0; id < plane.usual_groups.size(); ++id) {
    const StatMetadata* const stat = plane.stats.find(id);
    plane.usual_groups[id] = stat == nullptr ? ArgumentGroups{} : stat->groups;
  }
  plane.events.visit_all([&](EventMetadata& event) {
    event.plain_size = is_of_host ? without_encoded_arguments(event.name).size() : event.name.size();
    if (!is_of_host || event.number == 0) return;
    event.use = sink.use_of(event.plain_name());
    // Marks may be among these, too.
    if (!event.stats.empty() || event.plain_size < event.name.size()) event.use.is_taken = true;
    const int looked_at = event.use.arguments & groups;
    event.is_skipped = !event.use.is_taken && (looked_at & EventSink::kMarks) == 0;
    event.has_wanted_statistics = looked_at != 0 || event.use.arguments == kAllArguments;
  });
}

void MetadataReader::event_metadata(std::string_view entry) {
  const auto [id, metadata] = read_map_entry(entry);
  EventMetadata& event = planes.back().events[id];
  if (event.number == 0) event.number = ++name_count_;
  WireMessage message(metadata);
  for (WireField field; message.next(field);) {
    if (field.is(kName, WireType::bytes)) event.name = field.bytes();
    if (field.is(kDisplayName, WireType::bytes)) event.display_name = field.bytes();
    if (field.is(kStatOfMetadata, WireType::bytes)) event.stats.emplace_back(field.bytes());
  }
}

void MetadataReader::stat_metadata(std::string_view entry) {
  const auto [id, metadata] = read_map_entry(entry);
  planes.back().stats[id] = {std::string(read_metadata_name(metadata)), 0, ++stat_count_};
}

}  // namespace doctor
