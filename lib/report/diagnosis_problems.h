#pragma once

#include <optional>
#include <span>
#include <string>

#include "diagnose/catalog.h"
#include "diagnose/diagnose.h"
#include "report/problem.h"

namespace doctor {

/// What a diagnosis does not know of its surroundings.
struct ProblemContext {
  std::span<const CatalogEntry> catalog = {};
  std::optional<Severity> fail_on = Severity::warning;  ///< problems from here up fail; nullopt: none does
  /// Where the pipeline is written, for problems whose line is not known; none: they are shown at the traces.
  std::optional<ProblemLocation> source = {};
  std::string working_directory = {};  ///< absolute
};

/// "INPUT-BOUND": the verdict as pages print it.
std::string verdict_words(VerdictStatus status);

/// What the command ends with: `fail_on` is that of ProblemContext.
ProblemOutcome outcome_of(const Diagnosis& diagnosis, std::optional<Severity> fail_on);

/// The findings of a diagnosis as problems, in their order.
ProblemReport problems_of(const Measurements& measurements, const Diagnosis& diagnosis, const ProblemContext& context);

}  // namespace doctor
