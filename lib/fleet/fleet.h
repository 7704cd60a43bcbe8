#pragma once

#include "base/result.h"
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

  /// When the runs that count were recorded, by the hash of their row.
  std::unordered_map<std::uint64_t, std::int64_t> runs() const;

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

/// The time that fixes are predicted to save.
struct FleetSaving {
  std::uint64_t traces = 0;              ///< traces with a prediction; the others add nothing
  std::uint64_t conditional_traces = 0;  ///< of these, traces whose prediction depends on what the trace does not show
  std::int64_t ns = 0;                   ///< with the best fix of each
  std::int64_t low_ns = 0;               ///< the same at the lower end of each prediction
};

/// A cause of waiting in some traces of a fleet.
struct FleetCause {
  std::string culprit_kind;     ///< of a culprit: "source" or "transformation"; empty: the traces name no culprit
  std::string culprit_dataset;  ///< kind of dataset without the runtime's version: "ParallelMap"
  std::string limiting_resource;
  std::string rule;    ///< set for a rule; then the three members above are empty
  std::string source;  ///< of a line of code, "src/input.py:33"; then it has the dataset, too
  std::string group;   ///< set for a group of rows; then the other names are empty
  std::uint64_t traces = 0;
  std::uint64_t jobs = 0;
  std::int64_t lost_ns = 0;
  FleetSaving saved;    ///< for a rule: from traces in which its fix is the best one
  double share = 0;     ///< of the time that all traces lost
  std::string example;  ///< path of the trace that lost most
};

/// A quantity of a pipeline that was recorded repeatedly.
struct FleetTrend {
  double first = 0;    ///< in the earliest recording
  double last = 0;     ///< in the latest recording
  double earlier = 0;  ///< median of the earlier half of the recordings
  double later = 0;    ///< median of the later half
};

/// All recordings of pipelines of one structure.
struct FleetPipeline {
  std::string signature;
  std::uint64_t traces = 0;
  std::uint64_t jobs = 0;
  std::int64_t lost_ns = 0;
  std::string example;             ///< path of the trace that lost most
  std::uint64_t dated_traces = 0;  ///< traces with a known time of recording; without any, nothing below is set
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  std::size_t earlier_count = 0;           ///< sampled recordings in the earlier half
  std::size_t later_count = 0;             ///< sampled recordings in the later half
  std::optional<FleetTrend> input_share;   ///< 0..1
  std::optional<FleetTrend> get_next_p50;  ///< us
  /// the probability that the later half is this much slower by chance, adjusted for testing all pipelines
  std::optional<double> p_value;
  bool is_regression = false;
};

/// Traces that could not be diagnosed for similar reasons.
struct FleetError {
  std::string reason;  ///< with N in place of numbers
  std::uint64_t traces = 0;
  std::string example;
};

/// The summary of the rows of many traces.
struct Fleet {
  std::uint64_t rows = 0;      ///< rows that count
  std::uint64_t repeated = 0;  ///< rows of a trace for which another row counts
  std::uint64_t not_rows = 0;  ///< lines that are not rows
  std::string first_not_row;   ///< where the first of them is, and why it is not a row
  std::uint64_t jobs = 0;
  std::int64_t window_ns = 0;  ///< of all recordings together
  std::int64_t lost_ns = 0;
  FleetSaving saved;
  std::map<std::string, std::uint64_t> verdicts;
  std::vector<FleetError> errors;        ///< most frequent first
  std::vector<FleetCause> culprits;      ///< the one that lost most first; their shares add up to 1
  std::vector<FleetCause> lines;         ///< lines of code that made culprits, likewise; only for traces that have them
  std::vector<FleetCause> rules;         ///< likewise; a trace with several findings counts for each
  std::vector<FleetCause> groups;        ///< likewise, by what RowGrouping asks for; without rows that are in no group
  std::string grouped_by;                ///< the text of the RowGrouping; empty: there are no groups
  std::vector<JobHistory> slower_jobs;   ///< over time: see JobSteps::slower()
  std::vector<FleetPipeline> pipelines;  ///< the one that lost most first
  std::vector<std::size_t> regressions;  ///< indices into `pipelines`, the one that lost most first

  bool has_verdict() const { return !verdicts.empty(); }
};

/// The significance for a pipeline that became slower, over all pipelines together. It is as strict as a gate that must
/// not raise false alarms (docs/ci.md).
inline constexpr double kRegressionSignificance = 0.01;

/// The number of recordings that a half must have. With five against five the smallest possible p-value is 1 / 252.
inline constexpr std::size_t kRegressionHalf = 5;

/// Reads rows of NDJSON files ("-": standard input; gzip is inflated) and adds them up. Neither the order of rows nor
/// their distribution over files matters: of rows with the same content (sha256) one counts, the same in any order, and
/// one without an error if there is one. Reads each file twice, and once more if a job got slower. Errors: a file that
/// cannot be read.
///
/// Lines that read_fleet_parts() made are added up as the rows that they were made of, but a content counts in each of
/// them that has it. Errors also: parts that are cut off, or have groups by something else.
Result<Fleet> read_fleet(const std::vector<std::string>& files, const RowGrouping& grouping = {});

/// The sums of the rows, as lines for read_fleet() (fleet_counter.h): for fleets whose rows are too many for one
/// process. Errors: as of read_fleet().
Result<std::string> read_fleet_parts(const std::vector<std::string>& files, const RowGrouping& grouping = {});

}  // namespace doctor
