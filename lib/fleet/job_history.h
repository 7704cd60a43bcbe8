#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "diagnose/threshold.h"
#include "fleet/trace_row.h"

namespace doctor {

/// A run of a job, represented by the host with the longest step, for which all others wait.
struct JobRun {
  std::int64_t recorded_ns = 0;  ///< of its first host
  double step_us = 0;            ///< median
  std::uint64_t row = 0;         ///< hash of its row, which has everything below

  std::string trace;  ///< path
  std::string verdict;
  std::optional<double> input_share;
  std::string culprit;  ///< kind of dataset without the runtime's version: "ParallelMap"; empty: none
  std::string limiting_resource;
  std::string source;     ///< of the culprit: "src/input.py:33"
  std::string signature;  ///< of the structure of its pipeline
};

/// A slowdown: from a run on, the steps of a job take longer.
struct JobSlowdown {
  std::size_t run = 0;               ///< index into the runs: the first slower one
  std::optional<std::size_t> until;  ///< the first run that has recovered half of it or more; nullopt: it lasts
  double before_us = 0;              ///< median step of the runs before, as far back as they are alike
  double after_us = 0;               ///< median step of the runs from `run` on, as long as they are alike
  std::size_t typical_before = 0;    ///< the run in each of the two stretches whose step is nearest to the median
  std::size_t typical_after = 0;

  double ratio() const { return after_us / before_us; }
};

/// A job that got slower.
struct JobHistory {
  std::string job;
  std::vector<JobRun> runs;            ///< the oldest first
  std::vector<JobSlowdown> slowdowns;  ///< ascending, at least one

  /// The largest slowdown that lasts, or the largest of all if none does.
  const JobSlowdown& worst() const;
};

/// The differences that came with it, from the rows: "culprit Map -> ParallelMap, limited by cores -> thread"; empty:
/// none.
std::string describe_cause(const JobHistory& history, const JobSlowdown& slowdown);

/// The steps of jobs over time. The order of the rows does not matter. The last kMostHistoryValues runs of a job count,
/// and memory grows by 40 bytes for each of them.
class JobSteps {
 public:
  /// Adds a row. A row without a step is skipped. Its time is that of the trace, else the name of its run's folder;
  /// without either it is skipped as well. `hash` is the row's own.
  void add(const TraceRow& row, std::uint64_t hash);

  /// The jobs that got slower, worst first, those that still are before those that have recovered; the parts from their
  /// rows are not set. A step counts as changed if the medians of two stretches of runs differ by more than the
  /// threshold step_min_ratio of `compare`, and chance makes that as rarely as history_significance says: see
  /// changes_of() in change_points.h.
  std::vector<JobHistory> slower(const ThresholdValues& thresholds) const;

 private:
  struct Run {
    std::int64_t order_ns = 0;  ///< the order of runs: equal for all hosts if the folder's name is a time
    std::uint64_t place = 0;    ///< hash of the run's folder, or of the trace
    std::int64_t recorded_ns = 0;
    double step_us = 0;
    std::uint64_t row = 0;

    bool is_before(const Run& other) const { return std::tie(order_ns, place) < std::tie(other.order_ns, other.place); }
    void join(const Run& other);
  };

  static std::vector<JobRun> in_order(const std::vector<Run>& runs);

  std::unordered_map<std::uint64_t, std::vector<Run>> jobs_;  ///< by the hash of their names; runs in order
};

/// Adds the parts from the rows of runs to jobs that got slower.
class RunDescriber {
 public:
  explicit RunDescriber(std::vector<JobHistory>& jobs);

  void add(const TraceRow& row, std::uint64_t hash);

 private:
  struct Place {
    JobHistory& job;
    std::size_t run;
  };
  std::unordered_map<std::uint64_t, Place> places_;  ///< by the hash of the row
};

}  // namespace doctor
