#pragma once

#include <cstdint>
#include <optional>

#include "measure/measurements.h"

namespace doctor {

/// The input of an iterator that makes a dataset for each element which yields those elements: it is called least
/// often. kNoIterator if the trace does not tell it from the datasets.
IteratorId input_of_datasets(const HostMeasurement& host, IteratorId iterator);

/// The number of datasets that are open at once, if the program seems to set it. nullopt if TF chooses: as many as
/// there are cores in a sequential interleave, a third of them in a parallel one whose calls AUTOTUNE chooses.
std::optional<std::int64_t> chosen_cycle(const HostMeasurement& host, IteratorId interleave);

/// The number of datasets that a parallel interleave in place of this one, or of a flat_map, should be told to open at
/// once; nullopt if the program already sets it.
std::optional<std::int64_t> cycle_to_set(const HostMeasurement& host, IteratorId iterator);

/// The nearest iterator above that makes a dataset for each of its elements, with this iterator in these datasets.
/// kNoIterator if there is none, or if the trace does not tell its elements from its datasets.
IteratorId maker_of_dataset_around(const HostMeasurement& host, IteratorId iterator);

/// Tests whether the iterator makes one element for each dataset that it is in. Then only elements of several datasets
/// can be in work at once. False if the trace shows too few of these datasets completely.
bool makes_one_element_a_dataset(const HostMeasurement& host, IteratorId iterator);

/// The elements that a parallel interleave makes ahead of its consumer. Source: TF's ParallelInterleaveDatasetOp.
struct MadeAhead {
  std::int64_t of_dataset = 3;  ///< elements of each dataset that it keeps ready
  /// datasets that it begins before their turn, on threads beside those of its parallelism
  std::int64_t datasets = 2;
  double share = 0;  ///< share of all elements that are made before their dataset's turn, 0..1
};

/// The elements made ahead with so many datasets at once.
MadeAhead made_ahead(const HostMeasurement& host, IteratorId interleave, std::int64_t cycle_length);

}  // namespace doctor
