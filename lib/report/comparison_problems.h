#pragma once

#include <optional>
#include <string>

#include "compare/comparison.h"
#include "report/problem.h"

namespace doctor {

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

}  // namespace doctor
