#pragma once

#include <string>

#include "compare/comparison.h"

namespace doctor {

/// The comparison as one picture in SVG, for an artifact or a page that shows images: the outcome, and for the step and
/// the parts that changed most a dot for each recording. Needs no font, script or style from elsewhere.
std::string render_comparison_svg(const RunComparison& comparison);

}  // namespace doctor
