#pragma once

#include "base/duration_histogram.h"
#include "base/ids.h"
#include "base/time.h"
#include "base/work.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

class FunctionOwners;

/// The lower limits of the tail: calls that take so many times the usual latency (the 25th percentile), and so much
/// longer, that a busy machine does not explain it. While a second program took half of every core, calls took up to
/// 5.5 times the usual, and 6 ms longer (128 recordings of two pipelines on 2 cores, TF 2.21).
inline constexpr std::int64_t kTailFactor = 8;
inline constexpr Picoseconds kTailExcess = 10 * kPicosecondsPerMillisecond;

/// Statistics of the durations of calls.
struct DurationStatistics {
  std::uint64_t count = 0;
  Picoseconds total = 0;
  Picoseconds p25 = 0;  ///< the duration of an undisturbed call: it differs the least between equal runs
  Picoseconds median = 0;
  Picoseconds p90 = 0;
  Picoseconds p99 = 0;
  Picoseconds tail = 0;  ///< total of the calls in the tail

  friend bool operator==(const DurationStatistics&, const DurationStatistics&) = default;
};

DurationStatistics statistics_of(const DurationHistogram& histogram);

/// How often one run of a function, for one element, calls an op. A function without branches calls it equally often in
/// every run, so the quartiles are the same whole number wherever the window cuts some runs off.
struct CallsPerRun {
  std::uint64_t runs = 0;   ///< runs of the iterator's functions that were counted; 0: not known
  std::uint64_t low = 0;    ///< 25th percentile over the runs
  std::uint64_t high = 0;   ///< 75th percentile
  std::uint64_t total = 0;  ///< calls in all these runs

  double mean() const { return runs == 0 ? 0 : static_cast<double>(total) / static_cast<double>(runs); }

  friend bool operator==(const CallsPerRun&, const CallsPerRun&) = default;
};

/// One type of op in the functions of one iterator.
struct FunctionOpTimes {
  IteratorId iterator = kNoIterator;
  std::string op;
  DurationStatistics durations;
  CallsPerRun per_run;
};

/// Durations of single calls, for comparing runs. A diagnosis does not need them.
struct CallTimes {
  /// Indexed by IteratorId: the time of its calls outside of nested iterator calls. Empty for an iterator that waits
  /// for other threads, because its waits say nothing about it.
  std::vector<DurationStatistics> self;
  /// Sorted by iterator, then by op; without wrapper ops.
  std::vector<FunctionOpTimes> function_ops;
};

/// Measures the call times. `waits` is indexed by IteratorId: true if it waits for other threads.
CallTimes measure_call_times(const Trace& trace, const IteratorForest& forest, const std::vector<bool>& waits,
                             const FunctionOwners& owners, const WorkOptions& work = {});

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
