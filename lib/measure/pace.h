#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/ids.h"
#include "base/time.h"

namespace doctor {

/// Calls of the consumer that take far longer than its usual call, and recur. Positions are indices into
/// PipelineMeasurement::calls.
struct Stalls {
  std::size_t count = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t epoch_starts = 0;  ///< those that are the first call of an epoch
  std::size_t distance = 0;      ///< median number of calls from one to the next
  bool is_regular = false;       ///< nearly all distances are about `distance`, over a third of the calls or more
  Picoseconds shortest = 0;      ///< shortest latency: every steady call at least as long is one of them
  Picoseconds longest = 0;
  Picoseconds typical = 0;           ///< median latency of the stalls
  Picoseconds usual = 0;             ///< median latency of the other calls
  Picoseconds waited = 0;            ///< total time in the stalls
  double share = 0;                  ///< as a share of the time from the first steady call to the last one's end
  IteratorId culprit = kNoIterator;  ///< the iterator that holds most of them

  /// True if they belong to the job rather than to chance, and matter: there are at least three, some in either half of
  /// the calls, and they take a tenth of the time, which is half of what makes a job input-bound.
  bool are_recurring = false;

  /// True if nearly all of them are the first call of an epoch: the pipeline starts empty.
  bool begin_epochs() const { return epoch_starts >= 2 && 4 * epoch_starts >= 3 * count; }
};

/// A change of pace: from one call on, the consumer's calls take longer, or shorter.
struct PaceChange {
  std::size_t from = 0;     ///< index into PipelineMeasurement::calls of the first call of the new pace
  Picoseconds before = 0;   ///< median latency before it
  Picoseconds after = 0;    ///< median latency from it on
  double share_before = 0;  ///< share of the time spent in GetNext
  double share_after = 0;
  IteratorId culprit = kNoIterator;  ///< the iterator whose part of a call changed the most

  bool is_slower() const { return after > before; }
};

/// Finds stalls among the calls from `warmup_count` on: latencies more than 5 times the median, and more than 1 ms, the
/// limits of the warm-up (measure/README.md). There are at least two, and at most a third of the calls.
/// `iteration_starts` are those of PipelineMeasurement. The culprit is not set.
std::optional<Stalls> find_stalls(std::span<const Interval> calls, std::size_t warmup_count,
                                  std::span<const std::size_t> iteration_starts = {});

/// Finds the most prominent change of pace among the calls from `warmup_count` on, by Pettitt's rank test for a change
/// point (A non-parametric approach to the change-point problem, 1979) at 1 %. Ranks make it insensitive to single
/// outliers. It needs at least five calls on either side, and medians that differ by half and by 50 us. The culprit is
/// not set.
std::optional<PaceChange> find_pace_change(std::span<const Interval> calls, std::size_t warmup_count);

}  // namespace doctor
