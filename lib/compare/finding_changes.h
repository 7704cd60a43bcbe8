#pragma once

#include <cstddef>
#include <vector>

#include "compare/aligned_runs.h"
#include "compare/comparison_rows.h"

namespace doctor {

/// Findings that only one side has. A finding may depend on how busy the machine was, so a change of one is certain
/// only where every one of at least `needed_count` recordings a side agrees.
std::vector<StructureChange> find_finding_changes(const AlignedRuns& runs, const ComparisonChoice& choice,
                                                  std::size_t needed_count);

}  // namespace doctor
