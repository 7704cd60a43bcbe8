#pragma once

#include <cstddef>
#include <functional>

#include "base/work.h"

namespace doctor {

/// Calls `run(task)` once for each task in [0, count) on up to `threads` threads. The calling thread works too and
/// returns when all is done; with one thread it does it all, in order. Tasks are handed out in order, one at a time, so
/// large ones should come first. What a task throws is thrown here, and tasks not yet begun are left out then.
void run_parallel(unsigned threads, std::size_t count, const std::function<void(std::size_t task)>& run);

/// How many threads work on `rows` rows of a trace is worth: for a few thousand, starting one takes longer than the
/// work itself.
unsigned threads_for(const WorkOptions& work, std::size_t rows);

}  // namespace doctor
