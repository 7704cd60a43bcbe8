#include "trace/xspace/xspace_names.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "trace/wire.h"
#include "trace/xspace/xspace_wire.h"

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

using namespace xspace_field;

/// The plane that says when the recording began and ended, in nanoseconds since 1970: a profiler that makes the times
/// of its lines count from the beginning writes it down there (TF 2.5 and later).
constexpr std::string_view kRecordingPlane = "Task Environment";

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

void NameReader::begin_plane() {
  planes_.emplace_back();
  sizes_.emplace_back();
}

void NameReader::plane_name(std::string_view name) {
  const bool is_text = std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < ' '; });
  if (!is_text || !planes_.back().name.empty()) misnamed_.insert(planes_.size() - 1);
  planes_.back().name = name;
}

void NameReader::event_metadata(const MetadataEntry& entry) {
  ++sizes_.back().entries;
  sizes_.back().bytes += entry.metadata.size();
  add_event_name(planes_.back(), entry, builder_);
}

void NameReader::plane_stat(std::string_view stat) {
  if (planes_.back().name != kRecordingPlane) return;
  RecordingStat read{planes_.size() - 1, 0, 0};
  WireMessage message(stat);
  for (WireField field; message.next(field);) {
    if (field.is(kMetadataId, WireType::varint)) read.name = field.number;
    const bool is_value = field.is(kUnsignedValue, WireType::varint) || field.is(kSignedValue, WireType::varint);
    if (is_value) read.value = field.as_signed();
  }
  recording_stats_.push_back(read);
}

std::vector<std::string> NameReader::repeated_planes() const {
  std::set<std::tuple<std::string_view, std::uint64_t, std::uint64_t>> seen;
  std::vector<std::string> repeated;
  for (std::size_t plane = 0; plane < planes_.size(); ++plane) {
    if (sizes_[plane].entries == 0) continue;
    const bool is_new = seen.emplace(planes_[plane].name, sizes_[plane].entries, sizes_[plane].bytes).second;
    if (!is_new) repeated.push_back(planes_[plane].name);
  }
  return repeated;
}

std::set<std::size_t> NameReader::misnamed_planes() const {
  std::set<std::size_t> misnamed = misnamed_;
  for (std::size_t plane = 0; plane < planes_.size(); ++plane) {
    if (planes_[plane].has_foreign_iterators) misnamed.insert(plane);
  }
  return misnamed;
}

std::int64_t NameReader::recording_time(std::string_view wanted) const {
  for (const RecordingStat& stat : recording_stats_) {
    const StatName* const name = planes_[stat.plane].stats.find(stat.name);
    if (name != nullptr && name->name == wanted) return stat.value;
  }
  return 0;
}

Picoseconds NameReader::recording_length() const {
  const std::int64_t start = recording_start();
  const std::int64_t stop = recording_time("profile_stop_time");
  std::int64_t length = 0;
  const bool is_known =
      start > 0 && stop > start && !__builtin_mul_overflow(stop - start, kPicosecondsPerNanosecond, &length);
  return is_known ? length : 0;
}

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
