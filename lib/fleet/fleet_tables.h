#pragma once

#include "base/time.h"
#include "fleet/fleet.h"
#include "fleet/fleet_view.h"
#include "text/data_table.h"

namespace doctor {

// The rankings of a fleet as tables, each cut to as many entries as the view shows.

DataTable culprit_table(const Fleet& fleet, const FleetView& view);
/// Lines of code that made culprits.
DataTable line_table(const Fleet& fleet, const FleetView& view);
DataTable rule_table(const Fleet& fleet, const FleetView& view);
/// Groups of rows, by what they were asked to be grouped by.
DataTable group_table(const Fleet& fleet, const FleetView& view);
DataTable pipeline_table(const Fleet& fleet, const FleetView& view);
/// The pipelines that became slower.
DataTable regression_table(const Fleet& fleet, const FleetView& view);
/// Where jobs got slower, a row for each time.
DataTable slowdown_table(const Fleet& fleet, const FleetView& view);
DataTable error_table(const Fleet& fleet, const FleetView& view);

/// Culprits, lines, rules and groups together, distinguished by the first column.
DataTable cause_table(const Fleet& fleet, const FleetView& view);

double to_hours(std::int64_t nanoseconds);

/// Microseconds of a row; what is beyond all reason becomes the longest time there is.
Picoseconds row_time(double microseconds);

}  // namespace doctor
