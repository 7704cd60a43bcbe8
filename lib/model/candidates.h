#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/fix.h"

namespace doctor {

/// The fixes that can be made to the pipelines of the model: of the stages with most work first, and no more than the
/// replays of a page may cost. `pool_threads`: on another machine than that of the trace.
std::vector<Fix> candidate_fixes(const PipelineModel& model, std::optional<std::int64_t> pool_threads = {});

}  // namespace doctor
