#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/fix.h"

namespace doctor {

/// The fixes that can be made to the pipelines of the model, those of the stages with most work first, and no more than
/// the replays of a page may cost. `pool_threads` is given for another machine than that of the trace.
std::vector<Fix> candidate_fixes(const PipelineModel& model, std::optional<std::int64_t> pool_threads = {});

/// Tests whether a batch only reassembles rows into which arrays in memory were cut, with nothing but a shuffle and
/// repeats in between.
bool batches_shuffled_rows(const HostMeasurement& host, IteratorId batch);

/// Tests whether the input of an iterator that makes a dataset for each element consists of windows, each of which is a
/// dataset.
bool takes_windows(const HostMeasurement& host, IteratorId maker);

}  // namespace doctor
