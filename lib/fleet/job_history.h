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

/// A run of a job: of its hosts the one with the longest step, for which all others wait.
struct JobRun {
  std::int64_t recorded_ns = 0;  ///< of its first host
  double step_us = 0;            ///< median
  std::uint64_t row = 0;         ///< hash of its row; with the row comes all that follows

  std::string trace;  ///< path
  std::string verdict;
  std::optional<double> input_share;
  std::string culprit;  ///< kind of dataset without the runtime's version: "ParallelMap"; empty: none
  std::string limiting_resource;
  std::string source;     ///< of the culprit: "src/input.py:33"
  std::string signature;  ///< of the structure of its pipeline
};

/// From a run on, the steps of a job take longer.
struct JobSlowdown {
  std::size_t run = 0;               ///< index into the runs: the first slower one
  std::optional<std::size_t> until;  ///< the first run that has made good half of it or more; nullopt: it lasts
  double before_us = 0;              ///< median step of the runs before, as far back as they are alike
  double after_us = 0;               ///< of those from `run` on, as long as they are alike
  std::size_t typical_before = 0;    ///< the run of each of the two whose step is nearest to that median
  std::size_t typical_after = 0;

  double ratio() const { return after_us / before_us; }
};

/// A job that got slower.
struct JobHistory {
  std::string job;
  std::vector<JobRun> runs;            ///< the oldest first
  std::vector<JobSlowdown> slowdowns;  ///< ascending, at least one

  /// The greatest of those that last, or of all if none does.
  const JobSlowdown& worst() const;
};

/// What changed with it, as the rows have it: "culprit Map -> ParallelMap, limited by cores -> thread"; empty: nothing.
std::string describe_cause(const JobHistory& history, const JobSlowdown& slowdown);

/// The steps of jobs over time. The order of the rows changes nothing. Of a job the last kMostHistoryValues runs count,
/// and memory grows by 40 bytes for each of them.
class JobSteps {
 public:
  /// Passes over a row that has no step. Its time is what the trace says, or else the name of its run's folder; without
  /// either it is passed over as well. `hash` is the row's own.
  void add(const TraceRow& row, std::uint64_t hash);

  /// The jobs that got slower, worst first, those that still are before those that are not; what their rows say is
  /// missing. A step is another one where the medians of two stretches of runs differ by more than the threshold
  /// step_min_ratio of `compare`, and chance makes that so rarely as history_significance says: changes_of() of
  /// change_points.h.
  std::vector<JobHistory> slower(const ThresholdValues& thresholds) const;

 private:
  struct Run {
    std::int64_t order_ns = 0;  ///< which runs are the last: the same for all hosts where the folder's name is a time
    std::uint64_t place = 0;    ///< hash of the run's folder, or of the trace
    std::int64_t recorded_ns = 0;
    double step_us = 0;
    std::uint64_t row = 0;

    bool is_before(const Run& other) const { return std::tie(order_ns, place) < std::tie(other.order_ns, other.place); }
    void join(const Run& other);
  };

  static std::vector<JobRun> in_order(const std::vector<Run>& runs);

  std::unordered_map<std::uint64_t, std::vector<Run>> jobs_;  ///< by the hash of their names; runs by order
};

/// Adds what the rows of runs say to jobs that got slower.
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
