#include "gate.h"

#include "diagnose/budgets.h"
#include "diagnose/suppress.h"
#include "process/output.h"
#include "text/timestamp.h"

namespace doctor {

void apply_gate(const Options& options, Analysis& analysis) {
  Diagnosis& diagnosis = analysis.diagnosis;
  const IdleSuppressions& idle = analysis.idle_suppressions;
  for (const Suppression& suppression : idle.expired) {
    if (options.quiet) break;
    print_error({"the suppression of " + suppression.rule + " expired on " + to_date(*suppression.expires),
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

}  // namespace doctor
