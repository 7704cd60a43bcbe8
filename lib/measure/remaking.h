#pragma once

#include <cstddef>
#include <span>

#include "measure/measurements.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// Finds out whether the pipeline is made for every step: each creation mostly has one call, or two (`for x in
/// dataset.take(1)`: the second finds the end). If so, it sets `remade` and empties `iteration_starts`. `calls` are
/// those of `pipeline.calls`, by index into `forest.root_calls`.
void find_remaking(const Trace& trace, const IteratorForest& forest, std::span<const std::size_t> calls,
                   PipelineMeasurement& pipeline);

}  // namespace doctor
