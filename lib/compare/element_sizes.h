#pragma once

#include <vector>

#include "compare/aligned_runs.h"
#include "compare/comparison_rows.h"
#include "diagnose/threshold.h"

namespace doctor {

/// Iterators whose elements take more bytes than they did, or fewer, though what comes into them is as it was: the
/// first of a pipeline, of those that pass larger elements on none. Sizes come from shapes and do not vary, so one
/// recording a side tells. What is `bytes_min_ratio` as large is for the worse.
std::vector<StructureChange> find_size_changes(const AlignedRuns& runs, const ThresholdValues& thresholds);

}  // namespace doctor
