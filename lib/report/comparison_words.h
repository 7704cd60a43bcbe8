#pragma once

#include <string>
#include <string_view>

#include "compare/comparison.h"

namespace doctor {

// What a comparison says, in words: for its pages, its picture and the documents for CI.

/// "REGRESSION", "NO REGRESSION", "INCONCLUSIVE".
std::string_view verdict_words(ComparisonOutcome outcome);

/// The outcome in one sentence with its numbers, the gravest reason first.
std::string summarize(const RunComparison& comparison);

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
