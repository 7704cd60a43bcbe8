#pragma once

#include <cstdint>

#include "measure/measurements.h"

namespace doctor {

/// Of the inputs of what makes a dataset for each element, the one that yields those elements: it is called least.
/// kNoIterator where the trace does not tell it from the datasets.
IteratorId input_of_datasets(const HostMeasurement& host, IteratorId iterator);

/// How a parallel interleave gets ahead of its consumer. Source: TF's ParallelInterleaveDatasetOp.
struct MadeAhead {
  std::int64_t of_dataset = 3;  ///< elements of each dataset that it keeps ready
  std::int64_t datasets = 2;    ///< that it begins before their turn, on threads beside those of its parallelism
  double share = 0;             ///< 0..1, of all elements: made before the turn of their dataset
};

/// With so many datasets at once.
MadeAhead made_ahead(const HostMeasurement& host, IteratorId interleave, std::int64_t cycle_length);

}  // namespace doctor
