#pragma once

#include "diagnose/budget.h"
#include "diagnose/diagnose.h"
#include "diagnose/finding.h"
#include "measure/measurements.h"

namespace doctor {

/// The budgets that count, in the order given: the last of several about the same.
std::vector<Budget> budgets_in_force(std::span<const Budget> budgets);

/// Holds a diagnosis against budgets, what counts less before what counts more. Suppressed findings fire no rule. A
/// budget that names pipelines takes the place of one of its kind that names none. Every budget has a result: one for
/// each pipeline that it is for, or one that says why there is none.
std::vector<BudgetResult> check_budgets(const Measurements& measurements, const Diagnosis& diagnosis,
                                        std::span<const Budget> budgets);

enum class BudgetOutcome {
  met,       ///< nothing is exceeded, and every budget was evaluated on a pipeline at least
  unknown,   ///< nothing is exceeded, but a budget could be evaluated on no pipeline: no pass
  exceeded,  ///< one at least
};

BudgetOutcome outcome_of(std::span<const BudgetResult> results);

/// Suppressions that did nothing, in the order given.
struct IdleSuppressions {
  std::vector<Suppression> expired;  ///< before `today`
  std::vector<Suppression> unused;   ///< in force, but no finding fits
};

/// Marks the findings that a suppression fits. `today` ends those that expired before it. Of several that fit, the
/// first one is named.
IdleSuppressions suppress(std::vector<Finding>& findings, std::span<const Suppression> suppressions,
                          std::chrono::year_month_day today);

/// Findings that stand elsewhere: a trace of thousands of pipelines has 10 MB of them.
using FindingRefs = std::vector<std::reference_wrapper<const Finding>>;

/// The findings that are not suppressed, in their order: those that count.
FindingRefs findings_that_count(std::span<const Finding> findings);

}  // namespace doctor
