#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/fix.h"

namespace doctor {

/// The fixes that can be made to the pipelines of the model: of the stages with most work first, and no more than the
/// replays of a page may cost. `pool_threads`: on another machine than that of the trace.
std::vector<Fix> candidate_fixes(const PipelineModel& model, std::optional<std::int64_t> pool_threads = {});

/// Whether a batch puts together what arrays in memory were cut into, one row at a time, with nothing but a shuffle and
/// repeats between.
bool batches_shuffled_rows(const HostMeasurement& host, IteratorId batch);

/// Whether what makes a dataset for each element is given windows: each is a dataset of its own.
bool takes_windows(const HostMeasurement& host, IteratorId maker);

}  // namespace doctor
