#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "options.h"
#include "pipeline.h"
#include "report/report.h"

namespace doctor {

/// Analyses the traces and writes the page that `render` makes of them, with the timings if they are wanted. `needed`
/// is what the page shows beyond the diagnosis. Exit status: that of `judge`, or kExitFailure where something could not
/// be read, rendered or written; that is told on standard error.
int run_page(const Options& options, const AnalysisOptions& needed,
             const std::function<Result<std::string>(const Analysis&)>& render,
             const std::function<int(const Analysis&)>& judge);

/// How a page about these traces is to look.
TextStyle style_of(const Options& options);

/// Whether the diagnosis says that there was nothing to judge.
bool is_without_verdict(const Analysis& analysis);

}  // namespace doctor
