#pragma once

#include <cstdint>
#include <optional>

#include "measure/measurements.h"

namespace doctor {

/// Of the inputs of what makes a dataset for each element, the one that yields those elements: it is called least.
/// kNoIterator where the trace does not tell it from the datasets.
IteratorId input_of_datasets(const HostMeasurement& host, IteratorId iterator);

/// The datasets that are open at once, as far as the program seems to say it; nullopt where TF chooses: as many as
/// there are cores in a sequential interleave, a third of them in a parallel one whose calls AUTOTUNE chooses.
std::optional<std::int64_t> chosen_cycle(const HostMeasurement& host, IteratorId interleave);

/// How many datasets at once a parallel interleave in place of this one, or of a flat_map, is to be told to open;
/// nullopt where the program says it.
std::optional<std::int64_t> cycle_to_set(const HostMeasurement& host, IteratorId iterator);

/// What makes a dataset for each of its elements and has the iterator in these datasets: the nearest one above.
/// kNoIterator if there is none, or the trace does not tell its elements from its datasets.
IteratorId maker_of_dataset_around(const HostMeasurement& host, IteratorId iterator);

/// Whether the iterator makes one element for each dataset that it is in, so that no two of them can be in work at once
/// but those of several datasets. False where the trace shows too few of these datasets as a whole.
bool makes_one_element_a_dataset(const HostMeasurement& host, IteratorId iterator);

/// How a parallel interleave gets ahead of its consumer. Source: TF's ParallelInterleaveDatasetOp.
struct MadeAhead {
  std::int64_t of_dataset = 3;  ///< elements of each dataset that it keeps ready
  std::int64_t datasets = 2;    ///< that it begins before their turn, on threads beside those of its parallelism
  double share = 0;             ///< 0..1, of all elements: made before the turn of their dataset
};

/// With so many datasets at once.
MadeAhead made_ahead(const HostMeasurement& host, IteratorId interleave, std::int64_t cycle_length);

}  // namespace doctor
