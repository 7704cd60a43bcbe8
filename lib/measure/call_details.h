#pragma once

#include <cstddef>
#include <optional>

#include "base/ids.h"
#include "measure/critical_path.h"
#include "measure/measurements.h"

namespace doctor {

/// Which GetNext calls are kept with their segments. Nobody needs them for a diagnosis, and those of a long trace would
/// be the largest thing in memory.
struct CallDetailRequest {
  /// Of the slow calls of a trace, how many of the longest; its longest call if none is slow. nullopt: all calls,
  /// slow or not.
  std::optional<std::size_t> longest;
  std::optional<std::size_t> number;  ///< instead, the call of this number in each pipeline
  /// Only calls of this root (kNoIterator: bare GetNext ops). Without it pipelines that feed another are left out.
  std::optional<IteratorId> root;
};

/// Fills PipelineMeasurement::call_details of `host`, whose pipelines are measured, with the calls that `request`
/// names, in order of time.
void measure_call_details(const IteratorForest& forest, const CriticalPath& path, const CallDetailRequest& request,
                          HostMeasurement& host);

}  // namespace doctor
