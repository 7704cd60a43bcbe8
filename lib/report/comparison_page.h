#pragma once

#include <string>
#include <string_view>

#include "compare/comparison.h"
#include "report/report.h"

namespace doctor {

/// "REGRESSION", "NO REGRESSION", "INCONCLUSIVE".
std::string_view verdict_words(ComparisonOutcome outcome);

/// The outcome in one sentence with its numbers, the gravest reason first.
std::string summarize(const RunComparison& comparison);

/// "DecodePng in Dataset.map", "Dataset.batch", "GetNext".
std::string describe_subject(const TimeRow& row);

/// "1.30 ms -> 1.43 ms a call, x1.10 (1.08 to 1.12 with 97 %), +520 us a step", and why nothing can be said.
std::string describe_row(const TimeRow& row);

/// The comparison as a person reads it: outcome, what changed in the pipeline, what takes longer, dearest first.
std::string render_comparison_text(const RunComparison& comparison, const TextStyle& style);

/// The same as `tfdata-doctor.comparison/1`.
std::string render_comparison_json(const RunComparison& comparison);

}  // namespace doctor
