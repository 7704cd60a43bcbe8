#include "trace/xspace/xspace_names.h"

#include <utility>

namespace doctor {
namespace {

StatRole role_of(std::string_view stat_name) {
  if (stat_name == "id") return StatRole::id;
  if (stat_name == "parent_id") return StatRole::parent_id;
  if (stat_name == "element_id") return StatRole::element_id;
  if (stat_name == "step_num") return StatRole::step_number;
  if (stat_name == "name") return StatRole::dataset_name;
  // The context ids of a TraceMeProducer and of its TraceMeConsumer (tsl/profiler/lib/connected_traceme.h).
  if (stat_name == "_p" || stat_name == "_c") return StatRole::closure;
  return is_iterator_attribute(stat_name) ? StatRole::attribute : StatRole::unused;
}

}  // namespace

void add_event_name(PlaneNames& plane, const MetadataEntry& entry, TraceBuilder& builder) {
  std::string_view name = entry.name;
  ++plane.event_name_count;
  // A plane's name stands before its metadata as far as known writers go; a plane that has none yet may be a host.
  if (!plane.is_host() && !plane.name.empty()) {
    plane.has_foreign_iterators = plane.has_foreign_iterators || name.starts_with("Iterator::");
    return;
  }
  name = without_encoded_arguments(name);
  EventName event{classify_event(name), name_length_of(name), {}};
  if (has_subject(event.kind)) event.subject = builder.intern(subject_of_event(name, event.kind));
  if (event.kind == EventKind::iterator) plane.iterators.push_back(event.subject);
  if (const std::string_view framework = framework_of_event(name); !framework.empty()) {
    builder.trace().framework = framework;
  }
  plane.events[entry.id] = event;
}

void add_stat_name(PlaneNames& plane, const MetadataEntry& entry) {
  const std::uint64_t id = entry.id;
  StatName stat;
  stat.name = entry.name;
  stat.role = role_of(stat.name);
  if (stat.role == StatRole::step_number) plane.has_step_numbers = true;
  constexpr std::uint64_t kSmallId = 4096;
  if (id < kSmallId) {
    if (id >= plane.stat_roles.size()) plane.stat_roles.resize(id + 1, StatRole::unused);
    plane.stat_roles[id] = stat.role;
  }
  plane.stats[id] = std::move(stat);
}

}  // namespace doctor
