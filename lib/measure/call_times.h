#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace doctor
