#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "command_line/options.h"
#include "pipeline.h"

namespace doctor {

/// The page in one of the formats that are wanted. Errors: what was asked for is not in the trace.
using PageRenderer = std::function<Result<std::string>(const Analysis&, OutputFormat)>;

/// Analyses the traces once and writes the page that `render` makes of them in each format that is wanted, with the
/// timings if they are. `needed` is what the page shows beyond the diagnosis. Exit status: that of `judge`, or
/// kExitFailure where something could not be read, rendered or written; that is told on standard error.
int run_page(const Options& options, const AnalysisOptions& needed, const PageRenderer& render,
             const std::function<int(const Analysis&)>& judge);

/// How the user wants traces diagnosed.
DiagnosisSetup diagnosis_setup(const Options& options);

/// Analyses the files with all rules, with a progress bar where a person waits.
Analysis analyze_watched(const Options& options, const std::vector<std::string>& files, const AnalysisOptions& needed);

}  // namespace doctor
