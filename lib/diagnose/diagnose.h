#pragma once

#include "diagnose/budget.h"
#include "diagnose/finding.h"
#include "diagnose/host_comparison.h"
#include "diagnose/judgement_types.h"
#include "diagnose/rule.h"
#include "diagnose/throughput.h"

namespace doctor {

/// One change to make. Their order is the one ranking of the product: every document has it.
struct Change {
  std::size_t finding = 0;                ///< index into Diagnosis::findings
  std::size_t advice = 0;                 ///< index into Finding::advice
  std::optional<std::size_t> instead_of;  ///< index of the change before it of the same iterator: make one of the two
  /// What it brings together with all changes before it that need no condition and are no alternative; none for the
  /// first of them, for the others, and where the model does not know one of them.
  std::optional<Gain> together;
  /// A cache of which the trace does not show that it would ever be complete: it saw no end of an epoch. Such changes
  /// come after all others, and are told apart from them: they may bring nothing.
  bool is_unproven = false;
};

/// Whether advice with the gain `a` comes before advice with the gain `b`: what depends on nothing that the trace does
/// not show comes first; then by size, in steps of a tenth, below which predictions do not differ.
bool brings_more(const Gain& a, const Gain& b);

/// Sets the gain of every advice that a model can predict, of the first findings where there are very many, or why
/// there is none; takes out what gains less than `least_gain`; adds the fixes that a model knows and no rule advises to
/// the finding that states the verdict.
void predict_gains(Throughputs& throughputs, const Judgement& judgement, double least_gain,
                   std::vector<Finding>& findings);

/// Puts findings of one severity in the order of their best changes.
void order_by_changes(std::vector<Finding>& findings);

/// The changes that the findings advise, best first: what gains most without a condition; what no model knows the gain
/// of but is a setting of the pipeline; what gains under a condition; what means writing something anew. Sentences are
/// no changes, and suppressed findings advise nothing.
std::vector<Change> rank_changes(Throughputs& throughputs, const std::vector<Finding>& findings);

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
  Throughputs throughputs;      ///< what gains rest on; see Throughput::with() where measurements are copied
  std::vector<Change> changes;  ///< what the findings advise, best first
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
