#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace doctor {

/// Follows the attributes of every iterator event, thread by thread, and keeps only the changes of a value.
///
/// Events of different lanes may come in any order. Within a lane they come in order of time. If they do not
/// (`is_sorted` false, see TraceBuilder::Order::any), every value is kept until finish() and sorted there.
class AttributeTracker {
 public:
  explicit AttributeTracker(bool is_sorted) : is_sorted_(is_sorted) {}

  /// Notes that an event of `instance` on `lane` carried these attributes and no others.
  void note(LaneId lane, InstanceId instance, Picoseconds start, std::span<const Attribute> attributes);

  std::vector<AttributeTrack> finish();

 private:
  void add(AttributeTrack& track, const AttributeRun& run) const;
  AttributeTrack& track_of(std::vector<std::uint32_t>& known, LaneId lane, InstanceId instance, StringId name);

  bool is_sorted_;
  std::vector<AttributeTrack> tracks_;
  /// Indices into tracks_, by lane and instance.
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> known_;
};

}  // namespace doctor
