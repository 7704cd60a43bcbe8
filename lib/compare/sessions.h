#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compare/run_summary.h"
#include "diagnose/threshold.h"

namespace doctor {

/// The process and the sitting of each recording of a side; equal numbers mean the same one. A sitting is a series of
/// recordings on one machine without a long pause.
struct SessionsOfSide {
  std::vector<std::size_t> processes;  ///< indexed by recording
  std::vector<std::size_t> sittings;   ///< likewise
};

struct Sessions {
  SessionsOfSide base;
  SessionsOfSide candidate;
  /// True if every process, or sitting, of one side has recordings of the other, so that its effects cancel out.
  /// Processes also count as shared if each recording has its own.
  bool share_processes = true;
  bool share_sittings = true;
  std::size_t base_sittings = 0;  ///< number of sittings
  std::size_t candidate_sittings = 0;
};

/// Finds the sessions. If all recordings of one side were made before those of the other, as with a baseline, the sides
/// share no sitting, however short the time between them. Facts that no recording states count as shared.
Sessions find_sessions(std::span<const RunSummary> base, std::span<const RunSummary> candidate,
                       const ThresholdValues& thresholds);

/// The number of runs, in the order in which they were added, that belong to the last `sittings` sittings.
std::size_t count_of_last_sittings(std::span<const RunSummary> runs, std::size_t sittings,
                                   const ThresholdValues& thresholds);

/// A quantity in some recordings of a side.
struct Readings {
  std::vector<double> values;
  std::vector<std::size_t> recordings;  ///< indexed as the values: the recording of each
};

/// The largest ratio by which sessions alone may change a quantity. The standard deviation between processes and
/// sittings is known in advance (thresholds process_spread and sitting_spread) and corrected by these recordings, if
/// one side has several of them. 1 if both sides share them. Source: a variance between groups that few groups show,
/// moderated with a prior one (Smyth 2004).
double session_floor(const Sessions& sessions, const Readings& base, const Readings& candidate,
                     const ThresholdValues& thresholds);

}  // namespace doctor
