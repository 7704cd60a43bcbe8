#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compare/run_summary.h"
#include "diagnose/threshold.h"

namespace doctor {

/// To which process and to which sitting each recording of a side belongs: equal numbers, the same one. A sitting is
/// what was recorded on one machine without a long pause.
struct SessionsOfSide {
  std::vector<std::size_t> processes;  ///< indexed by recording
  std::vector<std::size_t> sittings;   ///< likewise
};

struct Sessions {
  SessionsOfSide base;
  SessionsOfSide candidate;
  /// Every process, or sitting, of one side has recordings of the other: what it has in common cancels out. Processes
  /// are taken for shared where each recording has its own, too.
  bool share_processes = true;
  bool share_sittings = true;
  std::size_t base_sittings = 0;  ///< how many
  std::size_t candidate_sittings = 0;
};

/// Where all recordings of one side were made before those of the other, as those of a baseline are, the sides share no
/// sitting, however short the time between them. What no recording says is taken for shared.
Sessions find_sessions(std::span<const RunSummary> base, std::span<const RunSummary> candidate,
                       const ThresholdValues& thresholds);

/// How many of the runs, in the order in which they were added, belong to the last `sittings` sittings.
std::size_t count_of_last_sittings(std::span<const RunSummary> runs, std::size_t sittings,
                                   const ThresholdValues& thresholds);

/// A number of some recordings of a side.
struct Readings {
  std::vector<double> values;
  std::vector<std::size_t> recordings;  ///< indexed as the values: the recording that each is of
};

/// The most by which sessions alone move a number, as a ratio: processes and sittings differ by a standard deviation
/// that is known before (thresholds process_spread and sitting_spread) and corrected by what these recordings show, as
/// far as one side has several of them. 1 where both sides share them. Source: a variance between groups that few
/// groups show, moderated with a prior one (Smyth 2004).
double session_floor(const Sessions& sessions, const Readings& base, const Readings& candidate,
                     const ThresholdValues& thresholds);

}  // namespace doctor
