#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "measure/critical_path.h"

namespace doctor {

/// Which GetNext calls are kept with their segments. Nobody needs them for a diagnosis, and those of a long trace would
/// be the largest thing in memory.
struct CallDetailWish {
  /// Of the slow calls of a trace, how many of the longest; its longest call if none is slow. nullopt: all calls,
  /// slow or not.
  std::optional<std::size_t> longest;
  std::optional<std::size_t> number;  ///< instead, the call of this number in each pipeline
  /// Only calls of this root (kNoIterator: bare GetNext ops). Without it pipelines that feed another are left out.
  std::optional<IteratorId> root;
};

/// One GetNext call of a consumer and who held it when.
struct CallDetail {
  std::size_t number = 0;  ///< within its pipeline in order of time, from 1
  Interval span;           ///< on the clock of PipelineMeasurement::calls
  LaneId lane{};           ///< the consumer's thread, index into HostMeasurement::threads
  /// In order of time, without gaps or overlaps; they sum to the latency exactly. Their lanes are indices into
  /// HostMeasurement::threads.
  std::vector<Segment> segments;

  Picoseconds latency() const { return span.end - span.start; }
};

struct HostMeasurement;

/// Fills PipelineMeasurement::call_details of `host`, whose pipelines are measured, with the calls that `wish` names,
/// in order of time.
void measure_call_details(const IteratorForest& forest, const CriticalPath& path, const CallDetailWish& wish,
                          HostMeasurement& host);

}  // namespace doctor
