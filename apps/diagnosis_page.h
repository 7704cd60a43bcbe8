#pragma once

#include <optional>
#include <vector>

#include "analysis.h"
#include "base/result.h"
#include "command_line/request.h"
#include "diagnose/budget.h"
#include "documents.h"

namespace doctor {

/// The options of `diagnose`, which `capture` uses for the traces that it captured.
struct DiagnosisOptions {
  ReadingOptions reading;
  OutputOptions output;
  std::optional<Severity> fail_on;
  std::optional<ProblemLocation> source_file;
  std::vector<Budget> budgets;
};

/// Reads all options of a diagnosis except its traces. Errors: as of output_options() and source_file_of().
Result<DiagnosisOptions> diagnosis_options(const Request& request);

/// The page of `diagnose`, and its exit status. It refers to the options.
TracePage diagnosis_page(const DiagnosisOptions& options);

}  // namespace doctor
