#pragma once

#include <vector>

#include "measure/measurements.h"

namespace doctor {

/// Names, links, attributes and times of every logical iterator, indexed by IteratorId.
/// `is_device_hop` is indexed likewise.
std::vector<IteratorMeasurement> measure_iterators(const Trace& trace, const IteratorForest& forest,
                                                   const std::vector<bool>& is_device_hop);

/// Shuffle and cache fills among `members` (step 7 of the shared design "diagnosis").
std::optional<ShuffleFill> find_shuffle_fill(const Trace& trace, const IteratorForest& forest,
                                             const std::vector<IteratorId>& members);
std::vector<CacheFill> find_cache_fills(const IteratorForest& forest, const std::vector<IteratorId>& members);

}  // namespace doctor
