#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "base/ids.h"

namespace doctor {

/// The parts of a Profile that need a look at every event of a host. A part that is not requested is empty.
struct ProfileParts {
  bool host = true;
  bool ops = true;
  bool memory = true;
};

/// The parts that rules and steps use.
inline constexpr ProfileParts kDiagnosisParts = {.host = true, .ops = false, .memory = false};

/// The GetNext calls of consumers that are wanted in detail. For a long trace these would be the largest thing in
/// memory.
struct CallRequest {
  /// The largest number of slow calls, the longest ones; the longest call if none is slow. nullopt: all calls, slow or
  /// not; of timelines as many as a picture can show.
  std::optional<std::size_t> longest = {};
  std::optional<std::size_t> number = {};  ///< instead, the call with this number in each pipeline, from 1
  std::optional<std::int64_t> step = {};   ///< of timelines, instead: the first step marked with this number
  /// Only calls of this root (kNoIterator: bare GetNext ops). Without it, pipelines that feed another are left out.
  std::optional<IteratorId> root = {};
};

/// What is wanted of a trace beyond the needs of every diagnosis. It takes more time and memory, and it is said before
/// the trace is read, because the trace is dropped when it is measured.
struct TraceNeeds {
  bool attribute_history = false;  ///< the attributes of every event, not only the last ones
  /// Files with more stored bytes get no attribute history, even if it is wanted: it takes tens of megabytes.
  std::uint64_t largest_with_history = std::numeric_limits<std::uint64_t>::max();
  /// The attributes whose Attribute::range is wanted, which takes far less than their history.
  std::span<const std::string_view> ranges_of = {};
  bool element_types = false;                ///< kElementShapes and kElementTypes
  std::optional<ProfileParts> profile = {};  ///< of every event, for HostMeasurement::profile
  /// Traces with more events get no profile: a second reading takes as long as the first. TF1 timelines are read once.
  std::uint64_t most_profiled_events = std::numeric_limits<std::uint64_t>::max();
  std::optional<CallRequest> calls = {};     ///< the segments of these, for PipelineMeasurement::call_details
  std::optional<CallRequest> timeline = {};  ///< windows around these, for PipelineMeasurement::timelines
  bool call_times = false;                   ///< durations of single calls, for comparing runs
};

}  // namespace doctor
