#include <algorithm>

#include "measure/measure_passes.h"

namespace doctor {
namespace {

/// Between programs that were dispatched before, XLA pauses for microseconds. Chosen: an evaluation, a checkpoint or
/// the next epoch takes longer to begin.
constexpr Picoseconds kLongestPause = 5 * kPicosecondsPerMillisecond;

}  // namespace

Picoseconds work_after(std::span<const Interval> runs, Picoseconds time) {
  Picoseconds busy_until = time;
  for (const Interval run : runs) {
    if (run.end <= busy_until) continue;
    if (run.start > busy_until + kLongestPause) break;
    busy_until = run.end;
  }
  return busy_until - time;
}

}  // namespace doctor
