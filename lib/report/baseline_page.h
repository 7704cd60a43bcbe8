#pragma once

#include <string>
#include <vector>

#include "compare/baseline.h"
#include "text/columns.h"

namespace doctor {

/// The runs of a baseline, a line each.
std::string render_baseline_text(const std::vector<StoredRun>& runs, PageWidth width = {});

}  // namespace doctor
