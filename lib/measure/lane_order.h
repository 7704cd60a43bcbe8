#pragma once

#include "base/parallel.h"
#include "trace/trace.h"

namespace doctor {

/// The lanes as tasks for several threads, the largest first.
inline std::vector<const Lane*> largest_lanes_first(const Trace& trace) {
  std::vector<const Lane*> lanes;
  lanes.reserve(trace.lanes.size());
  const auto size_of = [&](std::size_t lane) {
    return trace.lanes[lane].iterator_calls.size() + trace.lanes[lane].ops.size();
  };
  for (const std::size_t lane : largest_first(trace.lanes.size(), size_of)) lanes.push_back(&trace.lanes[lane]);
  return lanes;
}

}  // namespace doctor
