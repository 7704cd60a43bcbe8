#pragma once

#include "measure/functions/function_owners.h"
#include "measure/measurements.h"
#include "measure/timeline/timeline.h"
#include "measure/waits/critical_path.h"
#include "trace/trace.h"
#include "trace/trace_needs.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// A window with the calls of its pipeline that are drawn in it.
struct ChosenWindow {
  WindowKind kind = WindowKind::typical_steps;
  std::int64_t number = 0;
  Interval span;
  std::vector<std::size_t> calls;  ///< indices into PipelineMeasurement::calls
  std::size_t calls_left_out = 0;
  bool has_lanes = true;
};

/// The requested windows of a host's pipeline. A call or a step that does not exist gives none.
std::vector<ChosenWindow> choose_windows(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                                         const CallRequest& request);

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

/// Fills PipelineMeasurement::timelines of `host`, whose pipelines are measured and sorted, with the requested windows.
/// `waits` is indexed by IteratorId: true if it waits for other threads.
void record_timelines(const Trace& trace, const IteratorForest& forest, const CriticalPath& path,
                      const FunctionOwners& owners, const std::vector<bool>& waits, const CallRequest& request,
                      HostMeasurement& host);

}  // namespace doctor
