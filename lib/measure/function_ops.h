#pragma once

#include <span>
#include <vector>

#include "measure/measurements.h"

namespace doctor {

/// The ops of the functions that `iterator` runs, by type, within `windows` (disjoint, sorted): longest first, wrapper
/// ops left out. Functions are found by the id that a run and its executor spans share; for asynchronous iterators
/// by the Produce event that dispatched the run, else all runs outside of iterator calls.
std::vector<FunctionOp> measure_function_ops(const Trace& trace, const IteratorForest& forest, IteratorId iterator,
                                             std::span<const Interval> windows);

}  // namespace doctor
