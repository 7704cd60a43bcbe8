#pragma once

#include "base/result.h"
#include "options.h"
#include "pipeline.h"

namespace doctor {

/// Finds the traces that the user named and analyses them. Files that could not be read beside others are told on
/// standard error. Errors: no trace, a wrong setting, no file that could be read.
Result<Analysis> analyze_traces(const Options& options);

/// `--timings`: every stage and rule, to standard error. `rendered` is the time since the analysis ended.
void print_timings(const Analysis& analysis, std::chrono::nanoseconds rendered);

/// Whether pages for a person get colours.
bool wants_color(const Options& options);

/// Whether the diagnosis says that there was nothing to judge.
bool is_without_verdict(const Analysis& analysis);

}  // namespace doctor
