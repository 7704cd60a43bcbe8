#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/comparison_rows.h"
#include "compare/machine_pace.h"
#include "compare/run_summary.h"
#include "diagnose/ideal_run.h"
#include "diagnose/threshold.h"

namespace doctor {

/// Steps a second of a recording, as traced, for the consumer with the longest steps. nullopt if it shows none.
std::optional<double> steps_per_s(const RunSummary& run);

/// The part of the gap between the base and the ideal run, a measured ceiling, that the candidate closed. Rates are
/// medians of recordings.
struct ClosedGap {
  std::string source;  ///< name of the ideal run, as the user gave it; foreign text
  IdealGap gap;        ///< between the base and the ideal run
  double candidate = 0;
};

/// Measures the closed gap. Torn recordings do not count. nullopt if base, candidate or ideal show no steps.
std::optional<ClosedGap> closed_gap(std::string source, std::span<const RunSummary> base,
                                    std::span<const RunSummary> candidate, std::span<const RunSummary> ideal);

enum class ComparisonOutcome {
  regression,
  no_regression,
  /// No regression of structure, and either too few recordings to compare times, or a step that takes far longer
  /// although nothing that was compared does.
  inconclusive,
};

/// Whether base and candidate were recorded on one machine, as far as the recordings say.
struct MachineComparison {
  bool is_other = false;                 ///< no recording of one side was made on a machine of the other
  std::vector<std::string> differences;  ///< of the machines: "cores: 2 -> 16"; only if they are others
  std::vector<std::string> notes;        ///< other differences, and what is not known
};

MachineComparison compare_machines(std::span<const RunSummary> base, std::span<const RunSummary> candidate);

/// The recordings that were made on a machine of the other side, or may have been; all, if none was.
std::vector<RunSummary> on_machines_of(std::span<const RunSummary> runs, std::span<const RunSummary> others);

/// The time that a stage needs for a step, in microseconds: what its threads do at once, side by side.
struct StageTimes {
  std::string words;  ///< the user's name for it, or "training loop"
  double base_us = 0;
  double candidate_us = 0;  ///< 0: it is not there
};

struct RunComparison {
  ComparisonOutcome outcome = ComparisonOutcome::inconclusive;
  std::size_t base_count = 0;  ///< recordings
  std::size_t candidate_count = 0;
  std::size_t needed_count = 0;          ///< recordings a side that are needed to judge times
  std::vector<StructureChange> changes;  ///< changes for the worse first
  std::vector<TimeRow> rows;             ///< by their cost for each step, dearest first
  std::vector<TimeRow> pipeline_rows;    ///< get_next and step of each pipeline, in order of the summaries
  std::vector<StageTimes> stages;        ///< of the slowest pipeline of both sides, those that changed most first
  double max_extra_work = 0;             ///< share of the base's work that a change may add
  MachineComparison machines;            ///< machines that the recordings were made on
  Pace pace;                             ///< the pace of the candidate's machine, which was divided out of the rows
  std::vector<std::string> notes;        ///< limits of the comparison
  std::string settings_note;             ///< as Diagnosis::settings_note; filled in by the reader of settings
  std::optional<ClosedGap> ideal;        ///< filled in by the caller who has an ideal run, not by compare()
};

/// Compares recordings of two versions of a job: first their structure, then their times. It never fails: with nothing
/// to compare the result is inconclusive.
RunComparison compare(std::span<const RunSummary> base, std::span<const RunSummary> candidate,
                      const ComparisonChoice& choice, const ThresholdValues& thresholds);

}  // namespace doctor
