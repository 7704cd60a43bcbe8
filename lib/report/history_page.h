#pragma once

#include <string>

#include "compare/history.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

/// "DecodeJpeg in your .map(): 1.20 ms -> 2.40 ms of a step (x2.00) since 3f2a1c of 2026-11-20".
std::string describe_change(const History& history, const HistorySeries& series, const HistoryChange& change);

/// A line for each entry with the step and the work, then every change, the latest first.
std::string render_history_text(const History& history, PageWidth width);

/// A row for each number of each entry.
std::string render_history_csv(const History& history);

/// `tfdata-doctor.history/1`.
OrderedJson history_json(const History& history);

}  // namespace doctor
