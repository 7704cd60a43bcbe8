#pragma once

#include <string>
#include <vector>

#include "compare/baseline.h"

namespace doctor {

/// The runs of a baseline, a line each.
std::string render_baseline_text(const std::vector<StoredRun>& runs);

}  // namespace doctor
