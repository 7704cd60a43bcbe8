#include "trace/wire.h"
#include "trace/xspace/xspace_events.h"
#include "trace/xspace/xspace_wire.h"

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

void MetadataReader::event_metadata(const MetadataEntry& entry) {
  EventMetadata& event = planes.back().events[entry.id];
  if (event.number == 0) event.number = ++name_count_;
  event.name = entry.name;
  event.display_name = entry.display_name;
  if (!entry.has_statistics) return;
  WireMessage message(entry.metadata);
  for (WireField field; message.next(field);) {
    if (field.is(kStatOfMetadata, WireType::bytes)) event.stats.emplace_back(field.bytes());
  }
}

void MetadataReader::stat_metadata(const MetadataEntry& entry) {
  planes.back().stats[entry.id] = {std::string(entry.name), 0, ++stat_count_};
}

}  // namespace doctor
