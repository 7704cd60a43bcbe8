#pragma once

#include <cstddef>

#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// The largest number of iterator calls and functions that a model replays, so that its time is bounded on every trace.
inline constexpr std::size_t kMostSampleRows = 6'000;
/// The number of rows that a sample may have if it would otherwise have too few steps for a replay: a batch of 4,096
/// elements has some 12,000.
inline constexpr std::size_t kRowsForAFewSteps = 96'000;

/// The end of the sample that a model replays. It is at a call of a consumer, before which at most kMostSampleRows
/// iterator calls and functions begin, or kRowsForAFewSteps if the former would be too few steps. It is not later than
/// the last executor span that is kept.
Picoseconds end_of_sample(const Trace& trace, const IteratorForest& forest);

}  // namespace doctor
