#include "trace/trace_sink.h"

namespace doctor {
namespace {

bool is_same_value(const AttributeRun& a, const AttributeRun& b) {
  return a.kind == b.kind && a.value == b.value;
}

AttributeRun run_of(Picoseconds start, const Attribute& attribute) {
  if (attribute.is_number) return {start, attribute.number, AttributeKind::number};
  return {start, static_cast<std::int64_t>(index_of(attribute.text)), AttributeKind::text};
}

}  // namespace

void AttributeTracker::add(AttributeTrack& track, const AttributeRun& run) const {
  std::vector<AttributeRun>& runs = track.runs;
  if (runs.empty() && run.kind == AttributeKind::absent) return;
  if (is_sorted_ && !runs.empty() && is_same_value(runs.back(), run)) return;
  runs.push_back(run);
}

AttributeTrack& AttributeTracker::track_of(std::vector<std::uint32_t>& known, LaneId lane, InstanceId instance,
                                           StringId name) {
  for (const std::uint32_t index : known) {
    if (tracks_[index].name == name) return tracks_[index];
  }
  known.push_back(static_cast<std::uint32_t>(tracks_.size()));
  return tracks_.emplace_back(AttributeTrack{lane, instance, name, {}});
}

void AttributeTracker::note(LaneId lane, InstanceId instance, Picoseconds start,
                            std::span<const Attribute> attributes) {
  const std::uint64_t key = std::uint64_t{index_of(lane)} << 32 | index_of(instance);
  if (attributes.empty() && !known_.contains(key)) return;
  std::vector<std::uint32_t>& known = known_[key];
  for (const Attribute& attribute : attributes) {
    add(track_of(known, lane, instance, attribute.name), run_of(start, attribute));
  }
  for (const std::uint32_t index : known) {
    const bool is_carried = std::any_of(attributes.begin(), attributes.end(), [&](const Attribute& attribute) {
      return attribute.name == tracks_[index].name;
    });
    if (!is_carried) add(tracks_[index], {start, 0, AttributeKind::absent});
  }
}

std::vector<AttributeTrack> AttributeTracker::finish() {
  known_.clear();
  if (!is_sorted_) {
    for (AttributeTrack& track : tracks_) {
      std::stable_sort(track.runs.begin(), track.runs.end(),
                       [](const AttributeRun& a, const AttributeRun& b) { return a.since < b.since; });
      track.runs.erase(std::unique(track.runs.begin(), track.runs.end(), is_same_value), track.runs.end());
    }
  }
  return std::move(tracks_);
}

}  // namespace doctor
