#pragma once

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

/// The surroundings of a comparison: where the code and the recordings lie.
struct ComparisonContext {
  /// Where the pipeline is written, for problems whose line is not known; none: the first candidate recording.
  std::optional<ProblemLocation> source = {};
  std::string candidate = {};          ///< path of the first candidate recording, as the user named it
  std::string arguments = {};          ///< of the command, as a shell takes them: "main/ -- change/"
  std::string baseline = {};           ///< its file and the candidates, likewise; empty: there is no baseline
  std::string working_directory = {};  ///< absolute
};

/// What a comparison found as problems, gravest first: regressions fail, other certain changes are notes. The outcome
/// is the one that the command ends with.
ProblemReport problems_of(const RunComparison& comparison, const ComparisonContext& context);

/// The runs of a baseline, a line each: when they were recorded, of what, and on which of the machines below them.
std::string render_baseline_text(const std::vector<StoredRun>& runs, PageWidth width = {});

/// "DecodeJpeg in Dataset.map: 1.20 ms -> 2.40 ms of a step (2.00x) since 3f2a1c of 2026-11-20".
std::string describe_change(const History& history, const HistorySeries& series, const HistoryChange& change);

/// A line for each entry with the step and the work, then every change, the latest first.
std::string render_history_text(const History& history, PageWidth width);

/// A row for each number of each entry.
std::string render_history_csv(const History& history);

/// `tfdata-doctor.history/1`.
OrderedJson history_json(const History& history);

// What a comparison says, in words: for its pages, its picture and the documents for CI.

/// "REGRESSION", "NO REGRESSION", "INCONCLUSIVE".
std::string_view verdict_words(ComparisonOutcome outcome);

/// The outcome in one sentence with its numbers, the gravest reason first.
std::string summarize(const RunComparison& comparison);

/// Whether there is nothing to tell: no change of the pipeline, and no time that is longer or shorter.
bool is_unchanged(const RunComparison& comparison);

/// Whether the change may be gone with the next recording: a finding, or an op whose calls are too short to be counted,
/// that only some recordings show.
bool may_be_chance(const StructureChange& change);

/// Number of times and counts that were compared.
std::size_t judged_count(const RunComparison& comparison);

/// A change with its line: "Dataset.cache is gone; it was below Dataset.repeat (input.py:33)".
std::string describe_change(const StructureChange& change);

/// " (input.py:33)"; empty where the line is not known.
std::string in_brackets(const std::optional<SourceLine>& line);

/// The step that changed most: what the user feels. Null where no step shows.
const TimeRow* felt_row(const RunComparison& comparison);

/// "DecodePng in Dataset.map", "Dataset.batch", "GetNext".
std::string describe_subject(const TimeRow& row);

/// A value of a row in its unit: "1.30 ms", "47%", "4 calls".
std::string describe_value(const TimeRow& row, double value);

/// "slower", "faster", "same", or "~" where nothing can be said.
std::string_view to_word(Difference difference);

/// "x1.10 (96% confidence interval 1.08 to 1.12)"; empty where there is no ratio.
std::string describe_ratio(const TimeRow& row);

/// "+520 us": what the row costs for each step; empty for what is not part of a step, or costs nothing.
std::string describe_cost(const TimeRow& row);

/// "closed 40% of the gap to the ideal run: base 10 steps/s, candidate 16, ideal 25 (traced)".
std::string describe_gap(const ClosedGap& closed);

/// Whether a screen has room for the row: regressions, and times that were compared or would be with more recordings.
bool is_worth_a_line(const TimeRow& row);

/// "1.30 ms -> 1.43 ms a call, x1.10 (97% confidence interval 1.08 to 1.12), +520 us a step", and why nothing can be
/// said.
std::string describe_row(const TimeRow& row);

}  // namespace doctor
