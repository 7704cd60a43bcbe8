#pragma once

#include "base/search.h"
#include "trace/trace.h"

namespace doctor {

/// Calls `visit(Interval)` for each run of the user's function by the iterator call `row`, clipped to `window`. The
/// window must be a part of that call without nested calls. Runs come in order of time and do not overlap. `next` is
/// where the search for runs begins and, afterwards, where it ended, so that windows in order of time find their runs
/// at once.
template <typename Visit>
void visit_function_runs(const Lane& lane, std::uint32_t row, Interval window, std::size_t& next, Visit visit) {
  const ChunkedVector<FunctionRun>& runs = lane.function_runs;
  if (runs.empty()) return;
  next =
      partition_point_near(runs.size(), next, [&](std::size_t run) { return runs[run].span.start() < window.start; });
  std::size_t index = next;
  // The number of earlier runs to examine: one that began before the window may reach into it. Between them there are
  // only runs of nested calls, which have later rows. A function that contains iterator calls contains few of them, so
  // a few suffice.
  constexpr std::size_t kLookBack = 64;
  const std::size_t earliest = index > kLookBack ? index - kLookBack : 0;
  for (std::size_t before = index; before > earliest; --before) {
    const std::uint32_t row_before = runs[before - 1].row;
    if (row_before == row) index = before - 1;
    if (row_before <= row || row_before == kNoRow) break;
  }
  Picoseconds done = window.start;
  for (; index < runs.size() && runs[index].span.start() < window.end; ++index) {
    if (runs[index].row != row) continue;
    const Interval inside{std::max(runs[index].span.start(), done), std::min(runs[index].span.end(), window.end)};
    if (inside.start >= inside.end) continue;
    visit(inside);
    done = inside.end;
  }
}

/// Calls `visit(Interval, is_function)` for the pieces of `window`, a part of the call `row` without nested calls:
/// those in a run of the user's function, and those in between. Pieces come in order of time, without gaps, and may be
/// empty; `next` as above.
template <typename Visit>
void visit_own_work(const Lane& lane, std::uint32_t row, Interval window, std::size_t& next, Visit visit) {
  Picoseconds done = window.start;
  visit_function_runs(lane, row, window, next, [&](Interval run) {
    visit(Interval{done, run.start}, false);
    visit(run, true);
    done = run.end;
  });
  visit(Interval{done, window.end}, false);
}

/// Tells for windows in order of time whether a run may reach into the next one. It costs a few instructions if none
/// does.
class FunctionRunsAhead {
 public:
  explicit FunctionRunsAhead(const ChunkedVector<FunctionRun>& runs) : runs_(runs) { look_at_next(); }

  bool may_reach_into(Interval window) {
    while (next_start_ < window.start) {
      latest_end_ = std::max(latest_end_, runs_[next_].span.end());
      ++next_;
      look_at_next();
    }
    return latest_end_ > window.start || next_start_ < window.end;
  }
  /// The first run that does not begin before the window: see visit_function_runs().
  std::size_t next() const { return next_; }

 private:
  void look_at_next() { next_start_ = next_ < runs_.size() ? runs_[next_].span.start() : INT64_MAX; }

  const ChunkedVector<FunctionRun>& runs_;
  std::size_t next_ = 0;
  Picoseconds next_start_ = INT64_MAX;
  Picoseconds latest_end_ = INT64_MIN;  ///< latest end of the runs before next_
};

}  // namespace doctor
