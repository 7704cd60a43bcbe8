#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "measure/cycles/cycles.h"
#include "measure/measurements.h"

namespace doctor {

/// Facts about a sample that hold whatever is changed in it, computed once for all replays of a model.
struct SampleFacts {
  std::vector<IteratorId> pipeline_of;  ///< indexed by StageIndex: the root whose elements a consumer takes
  /// The start times of the iterations of the first consumer's pipelines, without the first iteration.
  std::map<IteratorId, std::vector<Picoseconds>> iteration_starts;
  /// The number of elements that pipelines make ahead, for those that others take their elements from.
  std::map<StageIndex, std::int64_t> ahead_of_links;
  std::vector<std::uint32_t> skipped;  ///< indexed by StageIndex; see skipped_elements(); 0: it skips none
  std::vector<double> work;            ///< indexed by StageIndex; see work_of_stages()
  std::vector<bool> has_producer;      ///< indexed by StageIndex: threads of its own make its elements
  /// Indexed by StageIndex: elements that the consumer's steps take for each element that the sample shows being made.
  /// At least 1; more if buffers were full when the window began.
  std::vector<double> taken_per_made;
  /// Indexed by StageIndex: the stages that its threads go through, or take elements of, each once.
  std::vector<std::vector<StageIndex>> stages_of_cycles;
  bool functions_compete = false;  ///< for threads of the pool: more than one may want to run at once

  /// The iteration of its pipeline that a time belongs to.
  std::uint32_t iteration_at(IteratorId pipeline, Picoseconds time) const;
};

SampleFacts facts_of(const HostMeasurement& host, const CycleSample& sample);

}  // namespace doctor
