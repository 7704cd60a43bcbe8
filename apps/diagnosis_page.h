#pragma once

#include <optional>
#include <vector>

#include "analysis.h"
#include "base/result.h"
#include "command_line/request.h"
#include "diagnose/budget.h"
#include "documents.h"

namespace doctor {

/// What `diagnose` takes, and `capture` for what it captured.
struct DiagnosisOptions {
  ReadingOptions reading;
  OutputOptions output;
  std::optional<Severity> fail_on;
  std::optional<ProblemLocation> source_file;
  std::vector<Budget> budgets;
};

/// Takes all that a diagnosis is made by but its traces. Errors: as of output_options() and source_file_of().
Result<DiagnosisOptions> diagnosis_options(const Request& request);

/// The page of `diagnose`, and its exit status. Refers to the options.
TracePage diagnosis_page(const DiagnosisOptions& options);

}  // namespace doctor
