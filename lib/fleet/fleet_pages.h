#pragma once

#include <algorithm>
#include <span>

#include "base/time.h"
#include "fleet/fleet.h"
#include "text/json_page.h"
#include "text/table.h"
#include "text/text_page.h"

namespace doctor {

/// The choices of a fleet's reader.
struct FleetView {
  std::size_t top = 0;               ///< entries of each ranking; 0: all
  std::optional<double> price = {};  ///< of an hour, in any currency; nullopt: money is not mentioned
};

/// The entries of a ranking that the view has room for.
template <typename Items>
std::span<const typename Items::value_type> shown_entries(const Items& items, const FleetView& view) {
  return std::span(items).first(view.top == 0 ? items.size() : std::min(view.top, items.size()));
}

// Renderers of a fleet.

/// For a terminal: the summary of the rows, then the rankings.
std::string render_fleet_text(const Fleet& fleet, const FleetView& view, const TextStyle& style);

/// The first line of the text alone.
std::string render_fleet_summary(const Fleet& fleet, const TextStyle& style);

/// The same for a merge request or a page.
std::string render_fleet_markdown(const Fleet& fleet, const FleetView& view);

/// `tfdata-doctor.fleet/2`.
OrderedJson fleet_json(const Fleet& fleet, const FleetView& view);

/// The causes alone: one table with a line for each culprit and each rule, distinguished by its first column.
std::string render_fleet_csv(const Fleet& fleet, const FleetView& view);

// The rankings of a fleet as tables, each cut to the number of entries in the view.

DataTable culprit_table(const Fleet& fleet, const FleetView& view);
/// Lines of code that made culprits.
DataTable line_table(const Fleet& fleet, const FleetView& view);
DataTable rule_table(const Fleet& fleet, const FleetView& view);
/// Groups of rows, by the requested grouping.
DataTable group_table(const Fleet& fleet, const FleetView& view);
DataTable error_table(const Fleet& fleet, const FleetView& view);

double to_hours(std::int64_t nanoseconds);

}  // namespace doctor
