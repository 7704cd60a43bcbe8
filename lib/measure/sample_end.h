#pragma once

#include <cstddef>

#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// A model replays no more iterator calls and functions than these, so that its time has a bound on every trace.
inline constexpr std::size_t kMostSampleRows = 6'000;
/// So many rows a sample may always have that else had too few steps for a replay: a batch of 4,096 elements has some
/// 12,000.
inline constexpr std::size_t kRowsForAFewSteps = 96'000;

/// Where the sample of a trace ends that a model replays: at a call of a consumer, so that no more than kMostSampleRows
/// iterator calls and functions begin before it, or kRowsForAFewSteps if that were too few steps; and where
/// executor spans end to be kept.
Picoseconds end_of_sample(const Trace& trace, const IteratorForest& forest);

}  // namespace doctor
