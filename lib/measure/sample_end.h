#pragma once

#include <cstddef>

#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// What a sample may have times the rows it is asked to have, where steps have very many elements: a replay needs a few
/// steps, and a batch of 4,096 elements has some 12,000 rows.
inline constexpr std::size_t kTimesMoreRows = 16;

/// Where the sample of a trace ends that a model replays: at a call of a consumer, so that no more than `most_rows`
/// iterator calls and functions begin before it, or several times as many if that were too few steps; and where
/// executor spans end to be kept.
Picoseconds end_of_sample(const Trace& trace, const IteratorForest& forest, std::size_t most_rows);

}  // namespace doctor
