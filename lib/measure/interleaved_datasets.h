#pragma once

#include <vector>

#include "measure/measurements.h"

namespace doctor {

/// The datasets that a parallel interleave works on, by number, with the times of its inputs, which run on threads of
/// their own. Empty for every other iterator, and if the trace does not number its inputs.
std::vector<InterleavedDataset> interleaved_datasets(const Trace& trace, const IteratorForest& forest,
                                                     const LogicalIterator& interleave);

}  // namespace doctor
