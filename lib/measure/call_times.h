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

/// From here on a call is one of the tail: so many times the usual (25 %) and so much longer, that a busy machine does
/// not explain it. Where a second program took half of every core, calls took up to 5.5 times the usual, and 6 ms
/// longer (128 recordings of two pipelines on 2 cores, TF 2.21).
inline constexpr std::int64_t kTailFactor = 8;
inline constexpr Picoseconds kTailExcess = 10 * kPicosecondsPerMillisecond;

/// How long the calls of something take.
struct DurationStatistics {
  std::uint64_t count = 0;
  Picoseconds total = 0;
  Picoseconds p25 = 0;  ///< what a call takes where nothing disturbs it: it differs the least between like runs
  Picoseconds median = 0;
  Picoseconds p90 = 0;
  Picoseconds p99 = 0;
  Picoseconds tail = 0;  ///< total of the calls of the tail

  friend bool operator==(const DurationStatistics&, const DurationStatistics&) = default;
};

DurationStatistics statistics_of(const DurationHistogram& histogram);

/// How often one run of a function, for one element, calls an op. A function without branches calls it as often in
/// every run, so that the quartiles are the same whole number wherever the window cuts some runs off.
struct CallsPerRun {
  std::uint64_t runs = 0;   ///< of the iterator's functions that were counted; 0: not known
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

/// How long single calls take, for comparing runs. No diagnosis needs it.
struct CallTimes {
  /// Indexed by IteratorId: the parts of its calls that are in no nested iterator call. Those of an iterator that waits
  /// for other threads are empty: how long it waits says nothing about it.
  std::vector<DurationStatistics> self;
  /// By iterator, then by op; wrapper ops are left out.
  std::vector<FunctionOpTimes> function_ops;
};

/// `waits` is indexed by IteratorId: it waits for other threads.
CallTimes measure_call_times(const Trace& trace, const IteratorForest& forest, const std::vector<bool>& waits,
                             const FunctionOwners& owners, const WorkOptions& work = {});

}  // namespace doctor
