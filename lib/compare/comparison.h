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

/// Steps a second of a recording, as traced: those of the consumer that takes longest for one. nullopt: it shows none.
std::optional<double> steps_per_s(const RunSummary& run);

/// How much of the gap between the base and the ideal run, a ceiling that was measured, the candidate closed. Rates are
/// medians of recordings.
struct ClosedGap {
  std::string source;  ///< of the ideal run, as the user named it; foreign text
  IdealGap gap;        ///< from the base
  double candidate = 0;
};

/// Torn recordings do not count. nullopt where base, candidate or ideal show no steps.
std::optional<ClosedGap> closed_gap(std::string source, std::span<const RunSummary> base,
                                    std::span<const RunSummary> candidate, std::span<const RunSummary> ideal);

enum class ComparisonOutcome {
  regression,
  no_regression,
  /// No regression of structure, and too few recordings to compare times, or a step that takes far longer although
  /// nothing that was compared does.
  inconclusive,
};

/// Whether base and candidate were recorded on one machine, as far as the recordings say.
struct MachineComparison {
  bool is_other = false;                 ///< no recording of one side was made on a machine of the other
  std::vector<std::string> differences;  ///< of the machines: "cores: 2 -> 16"; only if they are others
  std::vector<std::string> notes;        ///< what else is not the same, and what is not known
};

MachineComparison compare_machines(std::span<const RunSummary> base, std::span<const RunSummary> candidate);

/// The recordings that were made on a machine of the other side, or may have been; all, where none was.
std::vector<RunSummary> on_machines_of(std::span<const RunSummary> runs, std::span<const RunSummary> others);

struct RunComparison {
  ComparisonOutcome outcome = ComparisonOutcome::inconclusive;
  std::size_t base_count = 0;  ///< recordings
  std::size_t candidate_count = 0;
  std::size_t needed_count = 0;          ///< recordings a side that times are judged from
  std::vector<StructureChange> changes;  ///< those for the worse first
  std::vector<TimeRow> rows;             ///< by what they cost for each step, dearest first
  std::vector<TimeRow> pipeline_rows;    ///< get_next and step of each pipeline, in order of the summaries
  MachineComparison machines;            ///< that the recordings were made on
  Pace pace;                             ///< of the candidate's machine, which was taken out of the rows
  std::vector<std::string> notes;        ///< what limits the comparison
  std::string settings_note;             ///< as Diagnosis::settings_note; left to who reads settings
  std::optional<ClosedGap> ideal;        ///< compare() leaves it to who has an ideal run
};

/// Compares recordings of two versions of a job: first what they are, then how long things take. Total: nothing to
/// compare is inconclusive.
RunComparison compare(std::span<const RunSummary> base, std::span<const RunSummary> candidate,
                      const ComparisonChoice& choice, const ThresholdValues& thresholds);

}  // namespace doctor
