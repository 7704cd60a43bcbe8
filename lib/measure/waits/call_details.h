#pragma once

#include "base/ids.h"
#include "measure/measurements.h"
#include "measure/waits/critical_path.h"

namespace doctor {

/// The GetNext calls whose segments are kept. A diagnosis does not need them, and for a long trace they would be the
/// largest thing in memory.
struct CallDetailRequest {
  /// The number of longest calls to keep, among a trace's slow calls; its longest call if none is slow. nullopt: all
  /// calls, slow or not.
  std::optional<std::size_t> longest;
  std::optional<std::size_t> number;  ///< instead, the call with this number in each pipeline
  /// Only calls of this root (kNoIterator: bare GetNext ops). Without it, pipelines that feed another are left out.
  std::optional<IteratorId> root;
};

/// Fills PipelineMeasurement::call_details of `host`, whose pipelines are measured, with the requested calls in order
/// of time.
void measure_call_details(const IteratorForest& forest, const CriticalPath& path, const CallDetailRequest& request,
                          HostMeasurement& host);

}  // namespace doctor
