#pragma once

#include "base/work.h"
#include "convert/convert.h"
#include "pipeline.h"

namespace doctor {

/// The page of `--timings`: a line for every stage and rule, then the peak memory. `rendered` is the time since the
/// analysis ended; `threads` is the number allowed.
std::string render_timings(const Analysis& analysis, std::chrono::nanoseconds rendered, unsigned threads);

/// The same for a conversion, which is one stage.
std::string render_conversion_timings(const Conversion& conversion, std::chrono::nanoseconds duration,
                                      unsigned threads);

/// The same for a query: loading, with the state of `progress`, and running it.
std::string render_query_timings(const Progress& progress, std::chrono::nanoseconds loaded,
                                 std::chrono::nanoseconds asked, unsigned threads);

}  // namespace doctor
