#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "diagnose/budget.h"
#include "diagnose/changes.h"
#include "diagnose/host_comparison.h"
#include "diagnose/rule.h"

namespace doctor {

/// A rule that could not be evaluated on this trace, and why.
struct NotEvaluated {
  std::string rule;
  std::string reason;
  bool is_inapplicable = false;  ///< the trace has nothing of what the rule is about (a device, say)
};

/// What a rule asked about this trace.
struct RuleInquiries {
  std::string rule;
  std::vector<Inquiry> inquiries;
};

struct RuleTiming {
  std::string rule;
  std::chrono::nanoseconds duration{};
};

struct Diagnosis {
  ThresholdValues thresholds;  ///< judgement_thresholds() in force: pages decide by them too
  Judgement judgement;
  HostComparison hosts;
  /// By severity (error first), then by their best changes, easy ones, time at stake, rule, subject.
  std::vector<Finding> findings;
  std::vector<Change> changes;              ///< what the findings advise, best first
  std::vector<NotEvaluated> not_evaluated;  ///< by rule id; empty in a diagnosis for a row
  std::vector<RuleInquiries> inquiries;     ///< in the order of the catalogue; likewise
  std::vector<BudgetResult> budgets;        ///< empty where none was given; see check_budgets()
  /// "FILE: fail-on never, 1 suppression": the configuration file whose settings count, which may have come with what
  /// is judged. The command fills it in; empty where none count.
  std::string settings_note;
  std::vector<RuleTiming> timings;  ///< in the order of the catalogue, likewise; not part of the report
};

/// Judges the measurements and asks every rule. Knows no rule by name.
Diagnosis diagnose(const Measurements& measurements, std::span<const Rule> rules, const ThresholdSettings& settings,
                   DiagnosisScope scope = DiagnosisScope::report);

}  // namespace doctor
