#pragma once

#include <algorithm>
#include <vector>

#include "trace/trace.h"

namespace doctor {

/// The lanes as tasks for several threads: a large lane that comes last would keep one thread busy while others wait.
inline std::vector<const Lane*> largest_lanes_first(const Trace& trace) {
  std::vector<const Lane*> lanes;
  for (const Lane& lane : trace.lanes) lanes.push_back(&lane);
  const auto size_of = [](const Lane* lane) { return lane->iterator_calls.size() + lane->ops.size(); };
  std::stable_sort(lanes.begin(), lanes.end(), [&](const Lane* a, const Lane* b) { return size_of(a) > size_of(b); });
  return lanes;
}

}  // namespace doctor
