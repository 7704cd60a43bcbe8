#pragma once

#include <string>

#include "compare/comparison.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

/// The comparison as a person reads it: outcome, what changed in the pipeline, what takes longer, dearest first.
std::string render_comparison_text(const RunComparison& comparison, const TextStyle& style);

/// The same as `tfdata-doctor.comparison/1`.
OrderedJson comparison_json(const RunComparison& comparison);

}  // namespace doctor
