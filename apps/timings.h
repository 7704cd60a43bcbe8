#pragma once

#include <chrono>
#include <string>

#include "pipeline.h"

namespace doctor {

/// The page of `--timings`: a line for every stage and rule, then the peak memory. `rendered` is the time since the
/// analysis ended; `threads` is how many were allowed.
std::string render_timings(const Analysis& analysis, std::chrono::nanoseconds rendered, unsigned threads);

}  // namespace doctor
