#pragma once

#include <span>

#include "base/time.h"

namespace doctor {

/// How long XLA goes on with programs that were dispatched before `time`: a loop that does not wait for its results
/// runs ahead of them, and its steps take as long as they do. 0 where what runs later is something else, which begins
/// after a pause. `runs`: of programs, sorted by start.
Picoseconds work_after(std::span<const Interval> runs, Picoseconds time);

}  // namespace doctor
