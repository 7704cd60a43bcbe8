#pragma once

#include <vector>

#include "measure/critical_path.h"
#include "measure/function_owners.h"
#include "measure/measurements.h"
#include "measure/timeline.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// Fills PipelineMeasurement::timelines of `host`, whose pipelines are measured and sorted, with the requested windows.
/// `waits` is indexed by IteratorId: true if it waits for other threads.
void record_timelines(const Trace& trace, const IteratorForest& forest, const CriticalPath& path,
                      const FunctionOwners& owners, const std::vector<bool>& waits, const TimelineRequest& request,
                      HostMeasurement& host);

}  // namespace doctor
