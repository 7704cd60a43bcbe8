#pragma once

#include <mutex>

#include "base/parallel.h"
#include "trace/trace.h"

namespace doctor {

/// The lanes as tasks for several threads, the largest first.
inline std::vector<std::size_t> largest_lanes_first(const Trace& trace) {
  return largest_first(trace.lanes.size(), [&](std::size_t lane) {
    return trace.lanes[lane].iterator_calls.size() + trace.lanes[lane].ops.size();
  });
}

/// Measures each lane by `measure(lane)`, an index into Trace::lanes, on several threads, and hands the result to
/// `add(result)` on one at a time, in any order.
template <typename Measure, typename Add>
void add_up_lanes(const Trace& trace, const WorkOptions& work, const Measure& measure, const Add& add) {
  std::mutex mutex;
  const std::vector<std::size_t> lanes = largest_lanes_first(trace);
  run_parallel(threads_for(work, trace.iterator_event_count), lanes.size(), [&](std::size_t index) {
    const auto result = measure(lanes[index]);
    const std::lock_guard lock(mutex);
    add(result);
  });
}

}  // namespace doctor
