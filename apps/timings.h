#pragma once

#include <chrono>
#include <string>

#include "convert/convert.h"
#include "pipeline.h"

namespace doctor {

/// The page of `--timings`: a line for every stage and rule, then the peak memory. `rendered` is the time since the
/// analysis ended; `threads` is how many were allowed.
std::string render_timings(const Analysis& analysis, std::chrono::nanoseconds rendered, unsigned threads);

/// The same of a conversion, which is one stage.
std::string render_conversion_timings(const Conversion& conversion, std::chrono::nanoseconds duration,
                                      unsigned threads);

}  // namespace doctor
