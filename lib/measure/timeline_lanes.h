#pragma once

#include <span>
#include <vector>

#include "measure/function_owners.h"
#include "measure/timeline.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// A window whose lanes are wanted.
struct LaneRequest {
  Interval span;
  std::vector<bool> members;         ///< indexed by IteratorId: true if its work is wanted
  TimelineWindow* window = nullptr;  ///< receives `lanes` and `lanes_left_out`
};

/// Collects the work of threads for the members in each of the windows: own work of calls outside of nested calls, runs
/// of functions in them, and for iterators that wait for other threads (`waits`, indexed by IteratorId) the ops of
/// their functions. Over a whole trace the sum is IteratorMeasurement::work(). One pass over the part of each thread
/// that the windows lie in.
void collect_lanes(const Trace& trace, const IteratorForest& forest, const FunctionOwners& owners,
                   const std::vector<bool>& waits, std::span<const LaneRequest> requests);

}  // namespace doctor
