#include "trace/xspace/xspace_names.h"

#include <fmt/format.h>

#include <set>
#include <tuple>

namespace doctor {
namespace {

using namespace xspace_field;

/// The plane that says when the recording began and ended, in nanoseconds since 1970: a profiler that makes the times
/// of its lines count from the beginning writes it down there (TF 2.5 and later).
constexpr std::string_view kRecordingPlane = "Task Environment";

/// The plane of a host's threads, of which the profiler writes one a host.
constexpr std::string_view kThreadsPlane = "/host:CPU";

/// The plane whose names are those of XLA's programs, each with its HLO (XProf's kMetadataPlaneName).
constexpr std::string_view kProgramsPlane = "/host:metadata";

}  // namespace

void MetadataReader::plane_name(std::string_view name) {
  PlaneMetadata& plane = planes.back();
  const bool is_text = std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < ' '; });
  plane.is_misnamed = plane.is_misnamed || !is_text || !plane.plane.name.empty();
  plane.plane.name = name;
  plane.plane.kind = kind_of_plane(name);
}

void MetadataReader::event_metadata(const MetadataEntry& entry) {
  PlaneMetadata& plane = planes.back();
  ++plane.name_count;
  plane.name_bytes += entry.metadata.size();
  if (wanted_ == WantedPlanes::hosts) {
    // A plane's name stands before its metadata as far as known writers go; a plane that has none yet may be a host.
    if (plane.plane.kind == PlaneKind::host || plane.plane.name.empty()) {
      plane.uses[entry.id] = {sink_.use_of(without_encoded_arguments(entry.name)), false, true, true};
    } else if (entry.name.starts_with("Iterator::")) {
      plane.is_misnamed = true;
    }
    return;
  }
  EventMetadata& event = plane.events[entry.id];
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

void MetadataReader::plane_stat(std::string_view stat) {
  if (planes.back().plane.name != kRecordingPlane) return;
  RecordingStat read{planes.size() - 1, 0, 0};
  WireMessage message(stat);
  for (WireField field; message.next(field);) {
    if (field.is(kMetadataId, WireType::varint)) read.name = field.number;
    const bool is_value = field.is(kUnsignedValue, WireType::varint) || field.is(kSignedValue, WireType::varint);
    if (is_value) read.value = field.as_signed();
  }
  recording_stats_.push_back(read);
}

std::int64_t MetadataReader::recording_time(std::string_view wanted) const {
  for (const RecordingStat& stat : recording_stats_) {
    const StatMetadata* const name = planes[stat.plane].stats.find(stat.name);
    if (name != nullptr && name->name == wanted) return stat.value;
  }
  return 0;
}

void MetadataReader::finish_header(const XSpaceClock& clock) {
  // Without a host's line a trace has no event.
  header.origin_ns = clock.is_of_host || wanted_ != WantedPlanes::hosts ? clock.origin_ns : 0;
  header.first_ns = clock.first_ns;
  header.lists_names = true;
  for (const PlaneMetadata& plane : planes) {
    if (is_whole_device(plane.plane.name)) header.devices.push_back(plane.plane.name);
  }
  header.recorded_ns = recording_time("profile_start_time");
  const std::int64_t stop = recording_time("profile_stop_time");
  std::int64_t length = 0;
  const bool is_known = header.recorded_ns > 0 && stop > header.recorded_ns &&
                        !__builtin_mul_overflow(stop - header.recorded_ns, kPicosecondsPerNanosecond, &length);
  header.recording_length = is_known ? length : 0;
}

/// Programs take most of the memory of the names, and are not needed once their ops are known.
void MetadataReader::read_programs() {
  const auto is_gpu = [](const PlaneMetadata& plane) { return plane.plane.name.starts_with("/device:GPU"); };
  if (std::none_of(planes.begin(), planes.end(), is_gpu)) return;
  for (PlaneMetadata& plane : planes) {
    if (plane.plane.name != kProgramsPlane) continue;
    plane.events.visit_all([&](std::uint64_t id, EventMetadata& program) {
      std::string_view hlo;
      for (const std::string& stat : program.stats) {
        const StatMetadata* name = nullptr;
        WireMessage message(stat);
        for (WireField field; message.next(field);) {
          if (field.is(kMetadataId, WireType::varint)) {
            name = plane.stats.find(field.number);
            continue;
          }
          if (name == nullptr) continue;
          if (name->name == "program_id" && field.type() == WireType::varint) id = field.number;
          if (name->name == "Hlo Proto" && field.type() == WireType::bytes) hlo = field.bytes();
        }
      }
      if (!hlo.empty()) programs_.add(id, hlo);
      program.stats.clear();
    });
  }
  if (programs_.empty()) return;
  for (PlaneMetadata& plane : planes) plane.programs = is_gpu(plane) ? &programs_ : nullptr;
}

void MetadataReader::ask_sink() {
  read_programs();
  for (PlaneMetadata& plane : planes) ask_sink(plane);
}

ArgumentGroups MetadataReader::groups_of(const PlaneMetadata& plane, std::string_view argument) const {
  if (plane.plane.kind == PlaneKind::host) return sink_.groups_of(argument);
  if (plane.plane.kind != PlaneKind::device) return kAllArguments;
  const bool names_op = plane.programs != nullptr && XlaPrograms::names_op(argument);
  return sink_.device_groups_of(argument) | (names_op ? kNamesXlaOp : 0);
}

void MetadataReader::ask_sink(PlaneMetadata& plane) {
  const bool is_of_host = plane.plane.kind == PlaneKind::host;
  constexpr std::uint64_t kOneByte = 1 << 7;
  constexpr std::uint64_t kTwoBytes = 1 << 14;
  ArgumentGroups groups = 0;
  plane.usual_groups.resize(kOneByte);
  plane.stats.visit_all([&](std::uint64_t id, StatMetadata& stat) {
    if (stat.name.empty()) return;
    if (id >= plane.usual_groups.size() && id < kTwoBytes) plane.usual_groups.resize(id + 1);
    stat.groups = groups_of(plane, stat.name);
    groups |= stat.groups;
    if (id < plane.usual_groups.size()) plane.usual_groups[id] = stat.groups;
  });
  const auto complete = [&](NameUse& use) {
    const int looked_at = use.use.arguments & groups;
    use.is_skipped = !use.use.is_taken && (looked_at & EventSink::kMarks) == 0;
    use.has_wanted_statistics = looked_at != 0 || use.use.arguments == kAllArguments;
  };
  plane.events.visit_all([&](std::uint64_t id, EventMetadata& event) {
    event.plain_size = is_of_host ? without_encoded_arguments(event.name).size() : event.name.size();
    NameUse& use = plane.uses[id];
    if (!is_of_host) use.use.arguments = groups;
    if (!is_of_host || event.number == 0) return;
    use.use = sink_.use_of(event.plain_name());
    // Marks may be among these, too.
    if (!event.stats.empty() || event.plain_size < event.name.size()) use.use.is_taken = true;
    complete(use);
  });
  if (wanted_ != WantedPlanes::hosts || !is_of_host) return;
  plane.unnamed.use = sink_.use_of({});
  complete(plane.unnamed);
  plane.uses.visit_all([&](std::uint64_t /*id*/, NameUse& use) {
    if (!use.is_named) use.use = plane.unnamed.use;
    complete(use);
  });
}

/// The planes that occur twice in the file, for example because its bytes were copied one after another.
std::vector<std::string> MetadataReader::repeated_planes() const {
  std::set<std::tuple<std::string_view, std::uint64_t, std::uint64_t>> seen;
  std::vector<std::string> repeated;
  for (const PlaneMetadata& plane : planes) {
    if (plane.name_count == 0) continue;
    const bool is_new = seen.emplace(plane.plane.name, plane.name_count, plane.name_bytes).second;
    if (!is_new) repeated.push_back(plane.plane.name);
  }
  return repeated;
}

void MetadataReader::add_doubts(const ByteSource& source, Loss& loss) const {
  const std::vector<std::string> repeated = repeated_planes();
  for (const std::string& plane : repeated) {
    loss.add("planes_repeated");
    loss.notes.push_back(
        fmt::format("{}: the plane {} is there twice, so its times count twice: the file was appended "
                    "to another one, or to itself",
                    source.name(), plane));
  }
  const auto misnamed =
      std::count_if(planes.begin(), planes.end(), [](const PlaneMetadata& plane) { return plane.is_misnamed; });
  if (misnamed > 0) {
    loss.add("planes_misnamed", static_cast<std::uint64_t>(misnamed));
    loss.notes.push_back(fmt::format("{}: {} a name that no profiler gives it: the file is damaged there",
                                     source.name(), misnamed == 1 ? "a plane has" : "several planes have"));
  }
  const auto hosts = std::count_if(planes.begin(), planes.end(), [](const PlaneMetadata& plane) {
    return plane.plane.name == kThreadsPlane && plane.name_count > 0;
  });
  const auto recorders = static_cast<std::ptrdiff_t>(source.part_count());
  if (hosts > recorders && repeated.empty()) {
    loss.add("hosts_merged", static_cast<std::uint64_t>(hosts - 1));
    loss.notes.push_back(
        fmt::format("{}: holds the threads of {} hosts as if they were one: files were appended to one another. "
                    "Give each file by itself, or their folder",
                    source.name(), hosts));
  }
  for (const PlaneMetadata& plane : planes) {
    if (plane.plane.kind != PlaneKind::host || plane.name_count > 0 || loss.complete()) continue;
    loss.add("planes_without_names");
    loss.notes.push_back(
        fmt::format("{}: the events of plane {} have no names: they stand after the events, where the file is cut off",
                    source.name(), plane.plane.name));
  }
}

}  // namespace doctor
