#pragma once

#include <span>

#include "base/time.h"

namespace doctor {

/// How long XLA still runs programs that were dispatched before `time`. A loop that does not wait for its results runs
/// ahead of the programs, and its steps take as long as they do. 0 if later programs are other work, which begins after
/// a pause. `runs` are those of programs, sorted by start.
Picoseconds work_after(std::span<const Interval> runs, Picoseconds time);

}  // namespace doctor
