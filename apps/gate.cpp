#include "gate.h"

#include <algorithm>

#include "analysis.h"
#include "diagnose/budgets.h"
#include "diagnose/suppress.h"
#include "exit_code.h"
#include "output.h"

namespace doctor {

void apply_gate(const Options& options, Analysis& analysis) {
  Diagnosis& diagnosis = analysis.diagnosis;
  const IdleSuppressions idle = suppress(diagnosis.findings, options.settings.suppressions, options.today);
  for (const Suppression& suppression : idle.expired) {
    if (options.quiet) break;
    print_error({"the suppression of " + suppression.rule + " expired on " + to_string(*suppression.expires),
                 suppression.source,
                 {},
                 "renew it or remove it"});
  }
  for (const Suppression& suppression : idle.unused) {
    if (!options.verbose) break;
    print_error({"the suppression of " + suppression.rule + " fits no finding", suppression.source, {}, {}});
  }
  diagnosis.budgets = check_budgets(analysis.measurements, diagnosis, options.settings.budgets);
}

int gate_exit_code(const Options& options, const Analysis& analysis) {
  if (is_without_verdict(analysis)) return kExitNothing;
  const std::vector<Finding>& findings = analysis.diagnosis.findings;
  const bool has_finding =
      options.fail_on && std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
        return !finding.suppressed && finding.severity >= *options.fail_on;
      });
  const BudgetOutcome outcome = outcome_of(analysis.diagnosis.budgets);
  if (has_finding || outcome == BudgetOutcome::exceeded) return kExitFinding;
  return outcome == BudgetOutcome::unknown ? kExitNothing : kExitClean;
}

}  // namespace doctor
