#pragma once

#include <string>

#include "fleet/fleet.h"
#include "fleet/fleet_view.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

// A fleet for its readers.

/// For a terminal: what the rows come to, then the rankings.
std::string render_fleet_text(const Fleet& fleet, const FleetView& view, const TextStyle& style);

/// The first line of it alone.
std::string render_fleet_summary(const Fleet& fleet, const TextStyle& style);

/// The same for a merge request or a page.
std::string render_fleet_markdown(const Fleet& fleet, const FleetView& view);

/// `tfdata-doctor.fleet/2`.
OrderedJson fleet_json(const Fleet& fleet, const FleetView& view);

/// The causes alone: one table, a line for each culprit and each rule, distinguished by its first column.
std::string render_fleet_csv(const Fleet& fleet, const FleetView& view);

}  // namespace doctor
