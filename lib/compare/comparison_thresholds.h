#pragma once

#include <string_view>
#include <vector>

#include "diagnose/catalog.h"
#include "diagnose/threshold.h"

namespace doctor {

/// The name under which the thresholds of comparisons are set, as if they were a rule's: "compare.min_ratio".
inline constexpr std::string_view kComparisonThresholds = "compare";

std::vector<Threshold> comparison_thresholds();

/// Page and thresholds for `explain compare`. It is not a rule: it does not examine a single trace.
CatalogEntry comparison_catalog_entry();

}  // namespace doctor
