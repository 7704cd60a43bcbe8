#pragma once

#include "command_line/options.h"
#include "pipeline.h"

namespace doctor {

/// Lets suppressions and budgets act on a diagnosis. Suppressions that expired are told on standard error, with
/// Options::verbose those that fit nothing too.
void apply_gate(const Options& options, Analysis& analysis);

}  // namespace doctor
