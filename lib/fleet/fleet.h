#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/job_history.h"
#include "fleet/row_grouping.h"

namespace doctor {

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
Result<Fleet> read_fleet(const std::vector<std::string>& files, const RowGrouping& grouping = {});

}  // namespace doctor
