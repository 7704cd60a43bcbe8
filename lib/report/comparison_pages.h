#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/baseline.h"
#include "compare/comparison.h"
#include "compare/history.h"
#include "report/problem.h"
#include "text/columns.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

// What is shown of comparisons and of the baselines that they rest on, each page in a file of its own.

/// The comparison as a person reads it: outcome, what changed in the pipeline, what takes longer, dearest first.
std::string render_comparison_text(const RunComparison& comparison, const TextStyle& style);

/// The same as `tfdata-doctor.comparison/1`.
OrderedJson comparison_json(const RunComparison& comparison);

/// The comparison as one picture in SVG, for an artifact or a page that shows images: the outcome, and for the step and
/// the parts that changed most a dot for each recording. Needs no font, script or style from elsewhere.
std::string render_comparison_svg(const RunComparison& comparison);

/// What a comparison does not know of its surroundings.
struct ComparisonContext {
  /// Where the pipeline is written, for problems whose line is not known; none: the first candidate recording.
  std::optional<ProblemLocation> source = {};
  std::string candidate = {};          ///< path of the first candidate recording, as the user named it
  std::string working_directory = {};  ///< absolute
};

/// What a comparison found as problems, gravest first: regressions fail, other certain changes are notes. The outcome
/// is the one that the command ends with.
ProblemReport problems_of(const RunComparison& comparison, const ComparisonContext& context);

/// The runs of a baseline, a line each.
std::string render_baseline_text(const std::vector<StoredRun>& runs, PageWidth width = {});

/// "DecodeJpeg in Dataset.map: 1.20 ms -> 2.40 ms of a step (2.00x) since 3f2a1c of 2026-11-20".
std::string describe_change(const History& history, const HistorySeries& series, const HistoryChange& change);

/// A line for each entry with the step and the work, then every change, the latest first.
std::string render_history_text(const History& history, PageWidth width);

/// A row for each number of each entry.
std::string render_history_csv(const History& history);

/// `tfdata-doctor.history/1`.
OrderedJson history_json(const History& history);

}  // namespace doctor
