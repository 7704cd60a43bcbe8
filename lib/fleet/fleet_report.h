#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "fleet/fleet.h"
#include "text/text_page.h"

namespace doctor {

// A fleet for its readers. `top`: how many entries of each ranking are shown; 0: all.

/// For a terminal: what the rows come to, then the rankings.
std::string render_fleet_text(const Fleet& fleet, std::size_t top, const TextStyle& style);

/// The first line of it alone.
std::string render_fleet_summary(const Fleet& fleet, const TextStyle& style);

/// The same for a merge request or a page.
std::string render_fleet_markdown(const Fleet& fleet, std::size_t top);

/// `tfdata-doctor.fleet/1`.
std::string render_fleet_json(const Fleet& fleet, std::size_t top);

/// The causes alone: one table, a line for each culprit and each rule, distinguished by its first column.
std::string render_fleet_csv(const Fleet& fleet, std::size_t top);

}  // namespace doctor
