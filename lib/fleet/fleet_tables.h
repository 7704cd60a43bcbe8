#pragma once

#include <cstddef>

#include "fleet/fleet.h"
#include "text/data_table.h"

namespace doctor {

// The rankings of a fleet as tables, each cut to `top` entries (0: all).

DataTable culprit_table(const Fleet& fleet, std::size_t top);
DataTable rule_table(const Fleet& fleet, std::size_t top);
DataTable pipeline_table(const Fleet& fleet, std::size_t top);
/// The pipelines that became slower.
DataTable regression_table(const Fleet& fleet, std::size_t top);
DataTable error_table(const Fleet& fleet, std::size_t top);

/// Culprits and rules together, distinguished by the first column.
DataTable cause_table(const Fleet& fleet, std::size_t top);

double to_hours(std::int64_t nanoseconds);

}  // namespace doctor
