#pragma once

#include <optional>
#include <span>
#include <string>

#include "compare/run_summary.h"
#include "diagnose/ideal_run.h"

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

}  // namespace doctor
