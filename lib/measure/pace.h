#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/ids.h"
#include "base/time.h"

namespace doctor {

/// Calls of the consumer that take far longer than its usual one, again and again. Positions are indices into
/// PipelineMeasurement::calls.
struct Stalls {
  std::size_t count = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t epoch_starts = 0;  ///< those of them that are the first call of an epoch
  std::size_t distance = 0;      ///< median number of calls from one to the next
  bool is_regular = false;       ///< nearly all distances are about that, over a third of the calls or more
  Picoseconds shortest = 0;      ///< their shortest latency: every steady call as long as that is one of them
  Picoseconds longest = 0;
  Picoseconds typical = 0;           ///< their median latency
  Picoseconds usual = 0;             ///< that of the other calls
  Picoseconds waited = 0;            ///< in all of them together
  double share = 0;                  ///< of the time from the first steady call to the last one's end
  IteratorId culprit = kNoIterator;  ///< holds most of them

  /// Whether they belong to the job rather than to chance, and weigh: three, some in either half of the calls, and a
  /// tenth of the time, which is half of what makes a job input-bound.
  bool are_recurring = false;

  /// Whether nearly all of them are the first call of an epoch: the pipeline starts empty.
  bool begin_epochs() const { return epoch_starts >= 2 && 4 * epoch_starts >= 3 * count; }
};

/// The consumer's calls take longer, or shorter, from one of them on.
struct PaceChange {
  std::size_t from = 0;     ///< index into PipelineMeasurement::calls of the first call of the new pace
  Picoseconds before = 0;   ///< median latency up to there
  Picoseconds after = 0;    ///< from there on
  double share_before = 0;  ///< of the time spent in GetNext
  double share_after = 0;
  IteratorId culprit = kNoIterator;  ///< whose part of a call grew, or shrank, the most

  bool is_slower() const { return after > before; }
};

/// Finds stalls among the calls from `warmup_count` on: latencies more than 5 times the median, and more than 1 ms, the
/// limits of the warm-up (measure/README.md). At least two, at most a third of the calls.
/// `iteration_starts`: those of PipelineMeasurement. The culprit is left open.
std::optional<Stalls> find_stalls(std::span<const Interval> calls, std::size_t warmup_count,
                                  std::span<const std::size_t> iteration_starts = {});

/// Finds the one change of pace among the calls from `warmup_count` on that stands out most, by Pettitt's rank test for
/// a change point (A non-parametric approach to the change-point problem, 1979) at 1 %. Ranks make it blind to single
/// outliers. At least five calls on either side, medians that differ by half and by 50 us. The culprit is left open.
std::optional<PaceChange> find_pace_change(std::span<const Interval> calls, std::size_t warmup_count);

}  // namespace doctor
