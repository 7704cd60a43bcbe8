#pragma once

#include <vector>

#include "model/fix.h"

namespace doctor {

/// The fixes that can be made to the pipelines of the model: of the stages with most work first, and no more than the
/// replays of a page may cost.
std::vector<Fix> candidate_fixes(const PipelineModel& model);

}  // namespace doctor
