#include <algorithm>
#include <tuple>

#include "trace/wire.h"
#include "trace/xspace/xspace_events.h"
#include "trace/xspace/xspace_wire.h"

namespace doctor {
namespace {

using namespace xspace_field;

/// The plane that says when the recording began and ended, in nanoseconds since 1970: a profiler that makes the times
/// of its lines count from the beginning writes it down there (TF 2.5 and later).
constexpr std::string_view kRecordingPlane = "Task Environment";

}  // namespace

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

}  // namespace doctor
